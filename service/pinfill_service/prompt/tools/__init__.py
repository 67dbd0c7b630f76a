"""Tools in prompts and answers: how a model's template shows them, and how its calls are read.

`formats` finds out what a chat template can do; `history` makes a conversation into what it can show, with `plain` for
templates that know no tools. `reader` tells words, reasoning and calls apart while the model writes, in any of the
formats models use: `json_calls` and `xml_calls`, on a `tape` that shows one character at a time.
"""
