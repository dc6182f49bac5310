"""The site of a project: what it says, its pictures, and the Eleventy project that shows them."""
