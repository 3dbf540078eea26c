"""What a page is made of: HTML and SVG in the page's own colours, without any other file."""
