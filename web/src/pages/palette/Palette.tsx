/** The command palette: go to a workspace, a template or a page, or do something, by a few keys. */

import { keepPreviousData, useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import {
  Check,
  Keyboard,
  Languages,
  LayoutTemplate,
  LogOut,
  Moon,
  Plus,
  SquareTerminal,
  Star,
  Sun,
  SunMoon,
} from "lucide-react";
import { Dialog } from "radix-ui";
import { useEffect, useState } from "react";
import { useSaveAppearance } from "@/api/accountQueries";
import { useAction } from "@/api/actions";
import { workspaces as workspacesApi } from "@/api/endpoints";
import { meQuery, sitePermissionsQuery } from "@/api/queries";
import type { Workspace } from "@/api/types";
import { LANGUAGES, type Language, useI18n, useT } from "@/i18n";
import { ACCOUNT_PAGES } from "@/lib/accountPages";
import { adminPages } from "@/lib/adminPages";
import { matching, splitVerbs } from "@/lib/match";
import { recent } from "@/lib/recent";
import { useSignOut } from "@/lib/signOut";
import { setTheme, type Theme, useTheme } from "@/lib/theme";
import { WorkspaceState } from "@/ui/Status";
import { useAsking } from "../useAsking";
import { Combo, type Item } from "./Combo";
import { sorted, useKnown } from "./everything";
import { canDo, VERB_ICONS, VERBS, type Verb } from "./verbs";
import { type Doing, WorkspaceActions } from "./WorkspaceActions";
import "@/ui/dialog.css";
import "./palette.css";

/** How long after the last key the server is asked. */
const PAUSE_MS = 150;
const MOST = { workspaces: 8, templates: 5, pages: 24, actions: 8, more: 10 };

const THEME_ICONS = { system: SunMoon, light: Sun, dark: Moon };

interface Props {
  onClose: () => void;
  onShortcuts: () => void;
}

interface TopProps extends Props {
  doing: Doing;
  onWorkspace: (workspace: Workspace) => void;
  autoFocus: boolean;
}

function usePaused(value: string): string {
  const [paused, setPaused] = useState(value);
  useEffect(() => {
    const timer = window.setTimeout(() => setPaused(value), PAUSE_MS);
    return () => window.clearTimeout(timer);
  }, [value]);
  return paused;
}

/** Workspaces that the server finds. A query that it does not understand finds none. */
function useFound(query: string) {
  const paused = usePaused(query.trim());
  return useQuery({
    queryKey: ["palette", paused],
    queryFn: ({ signal }) => workspacesApi.list(paused, MOST.more, 0, signal),
    enabled: paused !== "",
    placeholderData: keepPreviousData,
    retry: false,
  });
}

/** The pages and actions that do not depend on any workspace. */
function useFixed({ onClose, onShortcuts }: Props): { pages: Item[]; actions: Item[] } {
  const { t, language, setLanguage } = useI18n();
  const navigate = useNavigate();
  const { data: may } = useQuery(sitePermissionsQuery);
  const theme = useTheme();
  const save = useSaveAppearance(theme);
  const signOut = useSignOut();
  const page = (to: string, icon: Item["icon"], label: string): Item => ({
    id: `page:${to}`,
    group: t.palette.groups.pages,
    icon,
    label,
    onChoose: () => {
      onClose();
      void navigate({ to });
    },
  });
  const action = (id: string, icon: Item["icon"], label: string, run: () => void, now = false): Item => ({
    id: `do:${id}`,
    group: t.palette.groups.actions,
    icon,
    label,
    detail: now ? (
      <>
        <Check size={16} aria-hidden /> {t.palette.now}
      </>
    ) : undefined,
    onChoose: () => {
      onClose();
      run();
    },
  });
  return {
    pages: [
      page("/workspaces", SquareTerminal, t.nav.workspaces),
      page("/templates", LayoutTemplate, t.nav.templates),
      page("/workspaces/new", Plus, t.nav.create),
      ...(may ? adminPages(may) : []).map(({ to, icon, word }) =>
        page(to, icon, t.palette.page(t.nav.admin, t.nav.adminPages[word])),
      ),
      ...ACCOUNT_PAGES.map(({ to, icon, word }) =>
        page(to, icon, t.palette.page(t.account.title, t.account.pages[word])),
      ),
    ],
    actions: [
      ...(Object.entries(t.nav.themes) as [Theme, string][]).map(([each, word]) =>
        action(
          `theme-${each}`,
          THEME_ICONS[each],
          t.palette.theme(word),
          () => {
            setTheme(each);
            save.mutate({ theme: each });
          },
          each === theme,
        ),
      ),
      ...(Object.entries(LANGUAGES) as [Language, string][]).map(([each, word]) =>
        action(
          `language-${each}`,
          Languages,
          t.palette.language(word),
          () => setLanguage(each),
          each === language,
        ),
      ),
      action("shortcuts", Keyboard, t.palette.shortcuts, onShortcuts),
      action("sign-out", LogOut, t.nav.signOut, () => signOut.mutate()),
    ],
  };
}

function Top({ onClose, onShortcuts, doing, onWorkspace, autoFocus }: TopProps) {
  const t = useT();
  const navigate = useNavigate();
  const { data: me } = useSuspenseQuery(meQuery);
  const [query, setQuery] = useState("");
  const known = useKnown(me.id);
  const fixed = useFixed({ onClose, onShortcuts });
  const [memory] = useState(() => recent(me.id));
  const nameOf = (workspace: Workspace) =>
    workspace.owner_id === me.id ? workspace.name : `${workspace.owner_name}/${workspace.name}`;

  const toWorkspace = (workspace: Workspace, group: string): Item => ({
    id: `workspace:${workspace.owner_name}/${workspace.name}`,
    group,
    icon: workspace.favorite ? Star : SquareTerminal,
    label: nameOf(workspace),
    detail: <WorkspaceState workspace={workspace} />,
    onChoose: () => {
      onClose();
      void navigate({
        to: "/@{$owner}/$workspace",
        params: { owner: workspace.owner_name, workspace: workspace.name },
      });
    },
    onMore: () => onWorkspace(workspace),
  });
  const toDo = (workspace: Workspace, verb: Verb): Item => {
    const can = canDo(verb, workspace);
    return {
      id: `${verb}:${workspace.id}`,
      group: t.palette.groups.actions,
      icon: VERB_ICONS[verb],
      label: t.actions.of(t.actions[verb], nameOf(workspace)),
      why: can === true ? undefined : t.why[can],
      onChoose: () => {
        onWorkspace(workspace);
        doing.mutate({ workspace, action: verb });
      },
    };
  };

  const verbs = splitVerbs(
    query,
    VERBS.map((verb) => [verb, t.actions[verb]] as const),
  );
  const found = useFound(verbs.find(([, rest]) => rest !== "")?.[1] ?? query);
  const ids = new Set(known.workspaces.map((workspace) => workspace.id));
  const others =
    query.trim() === ""
      ? []
      : sorted(found.data?.workspaces ?? [], me.id).filter((workspace) => !ids.has(workspace.id));

  const verbItems = verbs.flatMap(([verb, rest]) =>
    matching([...known.workspaces, ...others], rest, nameOf, MOST.actions).map((workspace) =>
      toDo(workspace, verb),
    ),
  );
  const labelOf = (item: Item) => item.label;
  const workspaces = known.workspaces.map((each) => toWorkspace(each, t.palette.groups.workspaces));
  const templates = known.templates.map(
    (template): Item => ({
      id: `template:${template.organization_name}/${template.name}`,
      group: t.palette.groups.templates,
      icon: LayoutTemplate,
      label: template.display_name || template.name,
      onChoose: () => {
        onClose();
        void navigate({ href: `/templates/${encodeURIComponent(template.name)}` });
      },
    }),
  );
  const creations = known.templates.map(
    (template): Item => ({
      id: `create:${template.organization_name}/${template.name}`,
      group: t.palette.groups.actions,
      icon: Plus,
      label: t.palette.newFrom(template.display_name || template.name),
      onChoose: () => {
        onClose();
        void navigate({ to: "/templates/$template/workspace", params: { template: template.name } });
      },
    }),
  );
  const all = [...workspaces, ...templates, ...fixed.pages, ...creations, ...fixed.actions];
  const before = query.trim() === "" ? memory.get() : [];
  const again = before
    .map((id) => all.find((item) => item.id === id))
    .filter((item) => item !== undefined)
    .map((item) => ({ ...item, group: t.palette.groups.recent }));
  const isNew = (item: Item) => !before.includes(item.id);
  const items = [
    ...again,
    ...matching(workspaces.filter(isNew), query, labelOf, MOST.workspaces),
    ...(query.trim() === "" ? [] : matching(templates, query, labelOf, MOST.templates)),
    ...matching(fixed.pages.filter(isNew), query, labelOf, MOST.pages),
    // What can be done stands before what cannot.
    ...[...verbItems.filter((item) => !item.why), ...verbItems.filter((item) => item.why)].slice(
      0,
      MOST.actions,
    ),
    ...matching([...creations, ...fixed.actions].filter(isNew), query, labelOf, MOST.actions),
    // Last, so that nothing above moves when they come.
    ...others.map((each) => toWorkspace(each, t.palette.groups.more)),
  ].map((item) => ({
    ...item,
    onChoose: () => {
      if (item.id !== "do:sign-out") memory.add(item.id);
      item.onChoose();
    },
  }));
  return (
    <Combo
      label={t.palette.title}
      placeholder={t.palette.placeholder}
      query={query}
      onQuery={setQuery}
      items={items}
      autoFocus={autoFocus}
    >
      {items.length === 0 && (
        <p className="palette-note">
          {found.isFetching ? t.palette.searching : t.palette.nothing(query.trim())}
        </p>
      )}
      <div className="palette-foot palette-hints" aria-hidden>
        <span>
          <kbd>↑</kbd> <kbd>↓</kbd> {t.palette.hints.move}
        </span>
        <span>
          <kbd>↵</kbd> {t.palette.hints.choose}
        </span>
        <span>
          <kbd>→</kbd> {t.palette.hints.actions}
        </span>
        <span>
          <kbd>Esc</kbd> {t.palette.hints.close}
        </span>
      </div>
    </Combo>
  );
}

export function Palette({ onClose, onShortcuts }: Props) {
  const t = useT();
  const [workspace, setWorkspace] = useState<Workspace>();
  /** It has just been opened. */
  const [opened, setOpened] = useState(true);
  const { ask, dialog } = useAsking();
  const doing = useAction(ask);
  return (
    <Dialog.Root open onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Overlay className="scrim" />
        <Dialog.Content
          className="palette"
          aria-describedby={undefined}
          onEscapeKeyDown={(event) => {
            if (!workspace) return;
            event.preventDefault();
            setWorkspace(undefined);
          }}
          onOpenAutoFocus={(event) => {
            event.preventDefault();
            (event.currentTarget as HTMLElement).querySelector("input")?.focus();
          }}
        >
          <Dialog.Title className="unseen">{t.palette.title}</Dialog.Title>
          {workspace ? (
            <WorkspaceActions
              key={workspace.id}
              workspace={workspace}
              doing={doing}
              onBack={() => setWorkspace(undefined)}
              onClose={onClose}
            />
          ) : (
            <Top
              onClose={onClose}
              onShortcuts={onShortcuts}
              doing={doing}
              onWorkspace={(each) => {
                setWorkspace(each);
                setOpened(false);
              }}
              autoFocus={!opened}
            />
          )}
          {dialog}
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
