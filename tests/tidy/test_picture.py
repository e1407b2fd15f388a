"""The picture of the packages in the design document is drawn from the real imports."""

from tests.tidy.picture import DESIGN, with_drawing


def test_the_picture_of_the_packages_is_up_to_date() -> None:
    text = DESIGN.read_text()
    assert with_drawing(text) == text, "run: python -m tests.tidy.picture"
