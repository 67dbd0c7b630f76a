"""What keeps prompts that mean the same the same, token for token.

- `rules`: parts of requests that change without a meaning are left out or moved, each by a rule that can be switched;
- `deferred`: tools that a client loads later are written where it loads them, not into the list before everything;
- `replies`: the tokens of a generated reply are used again when a client sends its text back.

None of them touches what a user wrote, and none of them asks what is cached.
"""

from pinfill_service.prompt.stable.rules import RULES, Rule, is_on, stabilise

__all__ = ["RULES", "Rule", "is_on", "stabilise"]
