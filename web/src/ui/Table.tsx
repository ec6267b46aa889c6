/** A plain table that becomes cards where there is no room; each cell then says its column. */

import type { ReactNode } from "react";
import "./table.css";

export interface Column<Row> {
  title: string;
  cell: (row: Row) => ReactNode;
  /** What one can do with the row, by buttons that say it themselves: at its end, without a title that one sees. */
  actions?: boolean;
}

interface Props<Row> {
  label: string;
  columns: Column<Row>[];
  rows: readonly Row[];
  rowKey: (row: Row) => string;
}

export function Table<Row>({ label, columns, rows, rowKey }: Props<Row>) {
  return (
    // biome-ignore-start lint/a11y/noRedundantRoles: as cards, rows and cells would lose their roles
    <table className="table" aria-label={label} role="table">
      <thead role="rowgroup">
        <tr role="row">
          {columns.map((column) => (
            <th key={column.title} scope="col" role="columnheader">
              {column.actions ? <span className="unseen">{column.title}</span> : column.title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {rows.map((row) => (
          <tr key={rowKey(row)} role="row">
            {columns.map((column) => (
              <td
                key={column.title}
                data-column={column.actions ? undefined : column.title}
                className={column.actions ? "table-actions" : undefined}
                role="cell"
              >
                {column.cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
    // biome-ignore-end lint/a11y/noRedundantRoles: as above
  );
}
