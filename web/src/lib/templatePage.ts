/** Where a template's own page is. */

import type { LinkProps } from "@tanstack/react-router";

export const templatePage = (template: string): LinkProps => ({
  to: `/templates/${encodeURIComponent(template)}` as "/templates",
});
