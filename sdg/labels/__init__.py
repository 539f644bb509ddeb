"""Labels from geometry and first hits: the same code for every renderer."""

from .view import label_view as label_view
