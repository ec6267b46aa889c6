/** Files in their folders: each file a link, each folder opens and closes. */

import { Link, type LinkProps } from "@tanstack/react-router";
import { ChevronDown, ChevronRight, File, Folder } from "lucide-react";
import { type ReactNode, useMemo, useState } from "react";
import { type Branch, treeOf } from "@/lib/sources";
import "./file-tree.css";

interface Props {
  label: string;
  paths: Iterable<string>;
  /** The file that is shown. */
  current: string | undefined;
  linkTo: (path: string) => LinkProps;
  /** What is known of a file, said after its name. */
  mark?: (path: string) => ReactNode;
  /** What one can do with a file or folder. */
  actions?: (branch: Branch) => ReactNode;
}

export function FileTree({ label, paths, ...rest }: Props) {
  const tree = useMemo(() => treeOf(paths), [paths]);
  return (
    <nav className="file-tree" aria-label={label}>
      <Branches branches={tree} depth={0} {...rest} />
    </nav>
  );
}

type BranchProps = Omit<Props, "label" | "paths"> & { depth: number };

function Branches({ branches, ...rest }: BranchProps & { branches: Branch[] }) {
  return (
    <ul>
      {branches.map((branch) =>
        branch.children ? (
          <FolderRow key={`${branch.path}/`} branch={branch} {...rest} />
        ) : (
          <FileRow key={branch.path} branch={branch} {...rest} />
        ),
      )}
    </ul>
  );
}

/** Folders within folders are moved to the right, up to a depth beyond which there would be no room for names. */
const indent = (depth: number, more = 0) => ({
  paddingLeft: `calc(${Math.min(depth, 8)} * 14px + 8px + ${more}px)`,
});

/** The room that a folder's chevron takes: the icons of files and folders stand under one another. */
const CHEVRON_PX = 20;

function FileRow({ branch, depth, current, linkTo, mark, actions }: BranchProps & { branch: Branch }) {
  return (
    <li>
      <div className={`file-row${branch.path === current ? " file-now" : ""}`}>
        <Link
          {...linkTo(branch.path)}
          className="file-name"
          style={indent(depth, CHEVRON_PX)}
          aria-current={branch.path === current ? "true" : undefined}
          title={branch.path}
        >
          <File size={14} aria-hidden />
          <span className="cut">{branch.name}</span>
          {mark?.(branch.path)}
        </Link>
        {actions?.(branch)}
      </div>
    </li>
  );
}

function FolderRow({ branch, ...rest }: BranchProps & { branch: Branch }) {
  const [open, setOpen] = useState(true);
  const Chevron = open ? ChevronDown : ChevronRight;
  return (
    <li>
      <div className="file-row">
        <button
          type="button"
          className="file-name"
          style={indent(rest.depth)}
          aria-expanded={open}
          onClick={() => setOpen(!open)}
        >
          <Chevron size={14} aria-hidden />
          <Folder size={14} aria-hidden />
          <span className="cut">{branch.name}</span>
        </button>
        {rest.actions?.(branch)}
      </div>
      {open && <Branches branches={branch.children ?? []} {...rest} depth={rest.depth + 1} />}
    </li>
  );
}
