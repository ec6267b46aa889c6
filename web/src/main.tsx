/** Starts the UI. */

import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { makeApp } from "./app";
import { preferredLanguage } from "./i18n";
import { allowDialogStyles } from "./lib/nonce";
import "./styles/tokens.css";
import "./styles/base.css";

allowDialogStyles();
const { app } = await makeApp(preferredLanguage());
const root = document.getElementById("root");
if (!root) throw new Error("the page has no root");
createRoot(root).render(<StrictMode>{app}</StrictMode>);
