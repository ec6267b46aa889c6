/** Saves a text as a file of the visitor's machine. */

export function saveText(text: string, name: string) {
  const url = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = `${name.replace(/[^\p{L}\p{N}.-]+/gu, "-")}.log`;
  link.click();
  URL.revokeObjectURL(url);
}
