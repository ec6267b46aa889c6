/** Makes a version of files: keeps them, and has them imported. */

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { sources as api } from "@/api/endpoints";
import type { Template, TemplateVersion, VariableValue } from "@/api/types";
import { filesQuery, putVersion } from "@/api/versionQueries";
import { type Sources, toTar } from "@/lib/sources";

export const tarOf = (files: Sources) => new Blob([toTar(files)], { type: "application/x-tar" });

interface Build {
  files: Sources;
  /** The archive that has these files already. */
  kept?: string | undefined;
  values?: VariableValue[];
}

export function useBuild(template: Template, onBuilt: (version: TemplateVersion) => void) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: async ({ files, kept, values = [] }: Build) => {
      const file = kept ?? (await api.upload(tarOf(files)));
      const version = await api.import(template.organization_id, {
        template_id: template.id,
        file_id: file,
        user_variable_values: values,
      });
      return { file, files, version };
    },
    onSuccess: ({ file, files, version }) => {
      client.setQueryData(filesQuery(file).queryKey, files);
      putVersion(client, version);
      void client.invalidateQueries({ queryKey: ["templateVersions"] });
      onBuilt(version);
    },
  });
}
