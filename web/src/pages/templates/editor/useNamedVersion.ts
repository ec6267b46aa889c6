/** The template and the version that an address names. */

import { useQuery } from "@tanstack/react-query";
import { isStatus } from "@/api/errors";
import { templateQuery } from "@/api/templateQueries";
import { mayEditQuery, namedVersionQuery } from "@/api/versionQueries";

export function useNamedVersion(names: { template: string; version: string }) {
  const template = useQuery(templateQuery(names.template));
  const version = useQuery({
    ...namedVersionQuery(template.data?.id ?? "", names.version),
    enabled: template.data !== undefined,
  });
  const may = useQuery({
    ...mayEditQuery(template.data?.id ?? ""),
    enabled: template.data !== undefined,
  });
  const error = template.error ?? version.error;
  return {
    template: template.data,
    version: version.data,
    mayEdit: may.data,
    error,
    notFound: isStatus(error, 404) || isStatus(error, 400),
    retry: () => {
      void template.refetch();
      void version.refetch();
    },
  };
}
