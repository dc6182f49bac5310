"""The site of a project: its content, its pictures, and the Eleventy project that shows them."""
