/** The "Open in Coder" button as text for other pages. Whatever stands in a link must not break out of its place. */

const HTML: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

const escapeHtml = (text: string) => text.replace(/[&<>"']/g, (each) => HTML[each] ?? each);

/** A link's address in Markdown ends at a bracket or a space; both can be written otherwise. */
const escapeAddress = (text: string) =>
  text.replace(/[()<>\s]/g, (each) => `%${each.charCodeAt(0).toString(16).padStart(2, "0").toUpperCase()}`);

export const embedMarkdown = (link: string, image: string, alt: string) =>
  `[![${alt.replace(/[[\]\\]/g, "\\$&")}](${escapeAddress(image)})](${escapeAddress(link)})`;

export const embedHtml = (link: string, image: string, alt: string) =>
  `<a href="${escapeHtml(link)}"><img src="${escapeHtml(image)}" alt="${escapeHtml(alt)}"></a>`;
