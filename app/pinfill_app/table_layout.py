"""What a person has made of a table's columns: which are shown, where, how wide, and what the rows are sorted by."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

Width = Annotated[float, Field(ge=1, le=500, allow_inf_nan=False)]


class TableLayout(BaseModel):
    """Columns by their numbers in the model. Widths are in characters, so that they also fit another font, and only
    those that were changed. Qt's own state of a header has neither property, and takes damaged bytes for sizes.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    order: tuple[int, ...]
    hidden: tuple[int, ...] = ()
    widths: dict[int, Width] = {}
    sorted_by: int = -1
    descending: bool = False

    @classmethod
    def parse(cls, text: str, columns: int) -> TableLayout | None:
        """None for a text that no table with so many columns has written."""
        try:
            layout = cls.model_validate_json(text)
        except ValidationError:
            return None
        return layout if layout._fits(columns) else None

    def _fits(self, columns: int) -> bool:
        known = set(range(columns))
        return (
            sorted(self.order) == sorted(known)
            and known >= {*self.hidden} | {*self.widths}
            and 0 not in self.hidden  # it tells the rows apart
            and -1 <= self.sorted_by < columns
        )
