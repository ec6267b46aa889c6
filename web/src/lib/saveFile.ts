/** Gives the visitor a file that is in the page. */

export function saveFile(path: string, data: Uint8Array) {
  const url = URL.createObjectURL(new Blob([data.slice()], { type: "application/octet-stream" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = path.slice(path.lastIndexOf("/") + 1);
  link.click();
  URL.revokeObjectURL(url);
}
