/** The versions of a template, newest first: who made them, whether they work, and which new workspaces get. */

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Archive, ArchiveRestore, Ellipsis, History, Pencil } from "lucide-react";
import { type FormEvent, useState } from "react";
import { templates, templateVersions } from "@/api/endpoints";
import { ApiError } from "@/api/errors";
import { templatesQuery } from "@/api/queries";
import { templateQuery, versionsQuery } from "@/api/templateQueries";
import type { Template, TemplateVersion } from "@/api/types";
import { useT } from "@/i18n";
import { fieldError } from "@/lib/fieldError";
import { versionActions } from "@/lib/templates";
import { templateVersionsRoute } from "@/routes/template";
import { Button } from "@/ui/Button";
import { Confirm, Dialog } from "@/ui/Dialog";
import { Field, FieldFrame } from "@/ui/Field";
import { Menu, MenuItem } from "@/ui/Menu";
import { Empty, ErrorNote, Skeleton } from "@/ui/Notes";
import { Pages } from "@/ui/Pages";
import { Badge } from "@/ui/Status";
import { Table } from "@/ui/Table";
import { Time } from "@/ui/Time";
import { JobState } from "./JobState";
import { Part } from "./Part";
import { useMay, useTemplate } from "./useTemplate";

const PAGE_SIZE = 25;

/** Asks again for all that shows versions of the template. */
function useRenew(template: Template) {
  const client = useQueryClient();
  return () =>
    Promise.all([
      client.invalidateQueries({ queryKey: versionsQuery(template.id).queryKey }),
      client.invalidateQueries({ queryKey: templateQuery(template.name).queryKey }),
      client.invalidateQueries({ queryKey: templatesQuery.queryKey }),
      client.invalidateQueries({ queryKey: ["templateVersion"] }),
    ]);
}

interface EditProps {
  template: Template;
  version: TemplateVersion;
  onClose: () => void;
}

function Edit({ template, version, onClose }: EditProps) {
  const t = useT();
  const renew = useRenew(template);
  const [name, setName] = useState(version.name);
  const [message, setMessage] = useState(version.message);
  const save = useMutation({
    mutationFn: () => templateVersions.update(version.id, { name: name.trim(), message }),
    onSuccess: async () => {
      await renew();
      onClose();
    },
  });
  const error = save.error instanceof ApiError ? save.error : undefined;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!save.isPending) save.mutate();
  };
  return (
    <Dialog title={t.template.versions.editTitle(version.name)} open onClose={onClose}>
      <form className="dialog-form" onSubmit={submit}>
        <Field
          label={t.create.name}
          value={name}
          onChange={(event) => setName(event.target.value)}
          error={fieldError(t, error, "name")}
          autoComplete="off"
          spellCheck={false}
          required
          maxLength={64}
        />
        <FieldFrame
          label={t.template.versions.message}
          hint={t.template.versions.messageHint}
          error={fieldError(t, error, "message")}
          optional
        >
          {(control) => (
            <textarea
              className="input"
              {...control}
              value={message}
              onChange={(event) => setMessage(event.target.value)}
            />
          )}
        </FieldFrame>
        {save.error && !error?.validations.length && <ErrorNote error={save.error} />}
        <div className="dialog-actions">
          <Button onClick={onClose}>{t.common.cancel}</Button>
          <Button type="submit" look="primary" busy={save.isPending}>
            {t.common.save}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

interface ActionsProps {
  template: Template;
  version: TemplateVersion;
  onError: (error: unknown) => void;
}

function Actions({ template, version, onError }: ActionsProps) {
  const t = useT();
  const renew = useRenew(template);
  const [editing, setEditing] = useState(false);
  const can = versionActions(version, template.active_version_id);
  const options = { onMutate: () => onError(undefined), onSuccess: renew, onError };
  const promote = useMutation({ mutationFn: () => templates.promote(template.id, version.id), ...options });
  const archive = useMutation({
    mutationFn: (archived: boolean) => templateVersions.archive(version.id, archived),
    ...options,
  });
  return (
    <span className="version-actions">
      {can.promote && (
        <Button
          busy={promote.isPending}
          onClick={() => promote.mutate()}
          aria-label={t.actions.of(t.template.versions.promote, version.name)}
        >
          {t.template.versions.promote}
        </Button>
      )}
      <Menu
        trigger={<Button look="quiet" icon={Ellipsis} label={t.actions.of(t.common.more, version.name)} />}
      >
        <MenuItem icon={Pencil} onSelect={() => setEditing(true)}>
          {t.template.versions.edit}
        </MenuItem>
        {can.unarchive ? (
          <MenuItem icon={ArchiveRestore} onSelect={() => archive.mutate(false)}>
            {t.template.versions.unarchive}
          </MenuItem>
        ) : (
          <MenuItem
            icon={Archive}
            why={can.archive ? undefined : t.template.versions.cannotArchive}
            onSelect={() => archive.mutate(true)}
          >
            {t.template.versions.archive}
          </MenuItem>
        )}
      </Menu>
      {editing && <Edit template={template} version={version} onClose={() => setEditing(false)} />}
    </span>
  );
}

function Name({ template, version }: { template: Template; version: TemplateVersion }) {
  const t = useT();
  return (
    <span className="version-name">
      <span className="version-title">
        <Link
          to="/templates/$template/versions/$version"
          params={{ template: template.name, version: version.name }}
          search={{}}
        >
          <strong>{version.name}</strong>
        </Link>
        {version.id === template.active_version_id && (
          <Badge tone="running">{t.template.versions.active}</Badge>
        )}
        {version.archived && <Badge tone="stopped">{t.template.versions.archived}</Badge>}
      </span>
      {version.message && <span className="small version-message">{version.message}</span>}
      {version.job.error && <span className="small version-error">{version.job.error}</span>}
    </span>
  );
}

function ArchiveUnused({ template, count }: { template: Template; count: number }) {
  const t = useT();
  const renew = useRenew(template);
  const [open, setOpen] = useState(false);
  const archive = useMutation({
    mutationFn: () => templates.archiveUnused(template.id),
    onSuccess: async () => {
      await renew();
      setOpen(false);
    },
  });
  return (
    <>
      <Button
        icon={Archive}
        why={count === 0 ? t.template.versions.noneUnused : undefined}
        onClick={() => setOpen(true)}
      >
        {t.template.versions.archiveUnused}
      </Button>
      <Confirm
        title={t.template.versions.archiveUnused}
        lead={t.template.versions.archiveUnusedText}
        action={t.template.versions.archive}
        open={open}
        busy={archive.isPending}
        error={archive.error}
        onConfirm={() => archive.mutate()}
        onClose={() => setOpen(false)}
      />
    </>
  );
}

export function Versions() {
  const t = useT();
  const template = useTemplate();
  const may = useMay(template);
  const { page = 1, archived = false } = templateVersionsRoute.useSearch();
  const navigate = templateVersionsRoute.useNavigate();
  const { data, error, refetch } = useQuery(versionsQuery(template.id));
  const [failure, setFailure] = useState<unknown>();
  const words = t.template.versions;
  const inArchive = data?.filter((version) => version.archived).length ?? 0;
  const all = data?.filter((version) => archived || !version.archived).toReversed();
  const rows = all?.slice((page - 1) * PAGE_SIZE, page * PAGE_SIZE) ?? [];
  const unused =
    data?.filter((version) => versionActions(version, template.active_version_id).archive).length ?? 0;
  const columns = [
    {
      title: words.columns.version,
      cell: (version: TemplateVersion) => <Name template={template} version={version} />,
    },
    {
      title: words.columns.status,
      cell: (version: TemplateVersion) => <JobState status={version.job.status} />,
    },
    { title: words.columns.by, cell: (version: TemplateVersion) => version.created_by.username },
    { title: words.columns.when, cell: (version: TemplateVersion) => <Time at={version.created_at} /> },
    ...(may?.update
      ? [
          {
            title: words.columns.actions,
            actions: true,
            cell: (version: TemplateVersion) => (
              <Actions template={template} version={version} onError={setFailure} />
            ),
          },
        ]
      : []),
  ];
  return (
    <Part
      template={template}
      title={t.template.pages.versions}
      lead={words.lead}
      actions={
        <>
          {inArchive > 0 && (
            <Button
              aria-pressed={archived}
              onClick={() => void navigate({ search: archived ? {} : { archived: true } })}
            >
              {words.showArchived(inArchive)}
            </Button>
          )}
          {may?.update && data && <ArchiveUnused template={template} count={unused} />}
        </>
      }
    >
      {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {failure !== undefined && <ErrorNote error={failure} />}
      {!data && !error && <Skeleton rows={5} />}
      {all?.length === 0 && (
        <Empty icon={History} title={words.emptyTitle}>
          <p>{words.emptyText}</p>
        </Empty>
      )}
      {rows.length > 0 && (
        <Table
          label={t.template.pages.versions}
          columns={columns}
          rows={rows}
          rowKey={(version) => version.id}
        />
      )}
      <Pages
        page={page}
        size={PAGE_SIZE}
        count={all?.length ?? 0}
        onGo={(to) => void navigate({ search: (old) => ({ ...old, page: to }) })}
      />
    </Part>
  );
}
