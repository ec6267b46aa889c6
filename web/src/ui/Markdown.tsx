/** Markdown from people we need not trust. It becomes elements one by one: no text of it is ever read as HTML. */

import { Lexer, type Token, type Tokens } from "marked";
import { Fragment, type ReactNode } from "react";
import {
  decodeEntities,
  headingLevels,
  imageSource,
  linkTarget,
  slug,
  withoutFrontMatter,
} from "@/lib/readme";
import "./markdown.css";

/** Longer texts are shown as they are: nobody reads them, and they must not hold up the page. */
const LONGEST = 256 << 10;
/** Quotes and lists within one another beyond this are shown as they are. */
const DEEPEST = 24;
/** Keeps the names of headings apart from the page's own. */
const PREFIX = "md-";

interface Context {
  levels: Map<Token, number>;
  depth: number;
}

const plain = (tokens: readonly Token[]): string =>
  tokens
    .map((token) =>
      "tokens" in token && token.tokens ? plain(token.tokens) : "text" in token ? token.text : "",
    )
    .join("");

function Link({ href, children }: { href: string; children: ReactNode }) {
  const target = linkTarget(href);
  if (!target) return <span>{children}</span>;
  if (target.kind === "here") return <a href={`#${PREFIX}${target.slug}`}>{children}</a>;
  return (
    <a href={target.href} target="_blank" rel="noopener noreferrer">
      {children}
    </a>
  );
}

/** An image of another host is not loaded, which would tell that host who reads this: its words link to it. */
function Image({ href, text }: { href: string; text: string }) {
  const source = imageSource(href, window.location.origin);
  if (source) return <img src={source} alt={decodeEntities(text)} loading="lazy" />;
  return <Link href={href}>{decodeEntities(text) || href}</Link>;
}

function Inline({ token, context }: { token: Token; context: Context }) {
  switch (token.type) {
    case "escape":
      return token.text;
    case "strong":
      return (
        <strong>
          <Inlines tokens={token.tokens} context={context} />
        </strong>
      );
    case "em":
      return (
        <em>
          <Inlines tokens={token.tokens} context={context} />
        </em>
      );
    case "del":
      return (
        <del>
          <Inlines tokens={token.tokens} context={context} />
        </del>
      );
    case "codespan":
      return <code>{token.text}</code>;
    case "br":
      return <br />;
    case "link":
      return (
        <Link href={token.href}>
          <Inlines tokens={token.tokens} context={context} />
        </Link>
      );
    case "image":
      return <Image href={token.href} text={token.text} />;
    case "checkbox":
      return <span aria-hidden>{token.checked ? "☑ " : "☐ "}</span>;
    case "html":
      return /^<br\s*\/?>$/i.test(token.text) ? <br /> : hidden(token.text) ? null : token.text;
    case "text":
      return token.tokens ? (
        <Inlines tokens={token.tokens} context={context} />
      ) : (
        decodeEntities(String(token.text))
      );
    default:
      return token.raw;
  }
}

/** A comment is not meant to be read. */
const hidden = (html: string) => html.startsWith("<!--");

function Inlines({ tokens, context }: { tokens: readonly Token[] | undefined; context: Context }) {
  if (context.depth > DEEPEST) return tokens?.map((token) => token.raw).join("");
  const inner = { ...context, depth: context.depth + 1 };
  return tokens?.map((token, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the text does not change in place
    <Inline key={index} token={token} context={inner} />
  ));
}

function Table({ table, context }: { table: Tokens.Table; context: Context }) {
  const cell = (each: Tokens.TableCell) => <Inlines tokens={each.tokens} context={context} />;
  const side = (each: Tokens.TableCell) => (each.align ? `md-${each.align}` : undefined);
  return (
    <table>
      <thead>
        <tr>
          {table.header.map((each, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the text does not change in place
            <th key={index} className={side(each)} scope="col">
              {cell(each)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {table.rows.map((row, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: as above
          <tr key={index}>
            {row.map((each, column) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: as above
              <td key={column} className={side(each)}>
                {cell(each)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Block({ token, context }: { token: Token; context: Context }) {
  switch (token.type) {
    case "space":
    case "def":
      return null;
    case "heading": {
      const Heading = `h${context.levels.get(token) ?? 6}` as "h2";
      return (
        <Heading id={PREFIX + slug(plain(token.tokens ?? []))}>
          <Inlines tokens={token.tokens} context={context} />
        </Heading>
      );
    }
    case "paragraph":
      return (
        <p>
          <Inlines tokens={token.tokens} context={context} />
        </p>
      );
    case "code":
      return (
        <pre>
          <code>{token.text}</code>
        </pre>
      );
    case "blockquote":
      return (
        <blockquote>
          <Blocks tokens={token.tokens ?? []} context={context} />
        </blockquote>
      );
    case "list": {
      const List = token.ordered ? "ol" : "ul";
      return (
        <List {...(token.ordered && token.start > 1 ? { start: Number(token.start) } : {})}>
          {(token as Tokens.List).items.map((item, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the text does not change in place
            <li key={index} className={item.task ? "md-task" : undefined}>
              <Blocks tokens={item.tokens} context={context} />
            </li>
          ))}
        </List>
      );
    }
    case "table":
      return <Table table={token as Tokens.Table} context={context} />;
    case "hr":
      return <hr />;
    case "html":
      return hidden(token.text) ? null : <p className="md-raw">{token.text.trim()}</p>;
    default:
      return <Inline token={token} context={context} />;
  }
}

function Blocks({ tokens, context }: { tokens: readonly Token[]; context: Context }) {
  if (context.depth > DEEPEST) return <Fragment>{tokens.map((token) => token.raw).join("")}</Fragment>;
  const inner = { ...context, depth: context.depth + 1 };
  return tokens.map((token, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the text does not change in place
    <Block key={index} token={token} context={inner} />
  ));
}

function headings(tokens: readonly Token[]): Token[] {
  return tokens.flatMap((token) =>
    token.type === "heading"
      ? [token]
      : token.type === "blockquote"
        ? headings(token.tokens ?? [])
        : token.type === "list"
          ? (token as Tokens.List).items.flatMap((item) => headings(item.tokens))
          : [],
  );
}

function read(text: string): Token[] | undefined {
  if (text.length > LONGEST) return undefined;
  try {
    return Lexer.lex(text, { gfm: true });
  } catch {
    return undefined;
  }
}

interface Props {
  text: string;
  /** The level of the heading that this stands under. */
  under: number;
}

export default function Markdown({ text, under }: Props) {
  const body = withoutFrontMatter(text);
  const tokens = read(body);
  if (!tokens) return <pre className="markdown md-plain">{body}</pre>;
  const all = headings(tokens);
  const levels = headingLevels(
    all.map((token) => (token as Tokens.Heading).depth),
    under,
  );
  const context = {
    levels: new Map(all.map((token, index) => [token, levels[index] ?? 6])),
    depth: 0,
  };
  return (
    <div className="markdown">
      <Blocks tokens={tokens} context={context} />
    </div>
  );
}
