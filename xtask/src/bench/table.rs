//! Tables that are read in a terminal and in Markdown alike.

use std::fmt;

/// Rows of cells under a head; the first column holds titles, the others figures.
#[derive(Clone, Debug, Default)]
pub(super) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table without rows.
    pub(super) fn new<S: Into<String>>(head: impl IntoIterator<Item = S>) -> Self {
        let mut table = Self::default();
        table.row(head);
        table
    }

    /// Adds a row.
    pub(super) fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }

    fn widths(&self) -> Vec<usize> {
        let mut widths = Vec::new();
        for row in &self.rows {
            for (column, cell) in row.iter().enumerate() {
                if column == widths.len() {
                    widths.push(0);
                }
                widths[column] = widths[column].max(cell.chars().count());
            }
        }
        widths
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let widths = self.widths();
        for (index, row) in self.rows.iter().enumerate() {
            for (column, cell) in row.iter().enumerate() {
                let width = widths[column];
                if column == 0 {
                    write!(f, "| {cell:<width$}")?;
                } else {
                    write!(f, " | {cell:>width$}")?;
                }
            }
            writeln!(f, " |")?;
            if index == 0 {
                for (column, width) in widths.iter().enumerate() {
                    let dashes = "-".repeat(*width);
                    write!(
                        f,
                        "|{}{dashes}{}",
                        if column == 0 { "-" } else { " " },
                        if column == 0 { "-" } else { ":" }
                    )?;
                }
                writeln!(f, "|")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let mut table = Table::new(["", "ns"]);
        table.row(["group off", "1"]);
        assert_eq!(
            table.to_string(),
            "|           | ns |\n|-----------| --:|\n| group off |  1 |\n"
        );
    }
}
