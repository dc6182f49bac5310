"""Lines of a page as a table for a spreadsheet, one line per row."""

from armarium_formats.api import Format, Loss, PageModel, WriteContext, WrittenPage


class LineTable(Format):
    name, label, extensions, writes = "line-table", "Table of lines", (".tsv",), True

    def write(self, page: PageModel, context: WriteContext) -> WrittenPage:
        rows = [f"{line.id}\t{' '.join(line.text.split())}\n" for line in page.lines()]
        lost = [Loss("shapes", len(rows), "a table holds no shapes")] if rows else []
        return WrittenPage("line\ttext\n" + "".join(rows), lost)
