/** Un nouvel espace de travail. */

import type { Catalogue } from "../en";
import { plural } from "../plural";

const n = new Intl.NumberFormat("fr");
const count = (value: number, one: string, other: string) =>
  `${n.format(value)} ${plural("fr", value, { one, other })}`;

export const create: Catalogue["create"] = {
  chooseTitle: "Nouvel espace de travail",
  chooseLead: "Choisissez le modèle à utiliser.",
  use: (template) => `Utiliser ${template}`,
  users: (active) => count(active, "développeur actif", "développeurs actifs"),
  buildTime: (time) => `démarre en ${time} environ`,
  title: (template) => `Nouvel espace de travail à partir de ${template}`,
  name: "Nom",
  nameHint: "Lettres, chiffres et traits d’union isolés ; 32 caractères au plus.",
  badName:
    "Utilisez des lettres, des chiffres et des traits d’union isolés entre eux ; 32 caractères au plus.",
  owner: "Propriétaire",
  ownerHint: "Le nom d’utilisateur de la personne à qui l’espace de travail est destiné.",
  parameters: "Paramètres",
  immutable: "ne peut pas être modifié ensuite",
  ephemeral: "pour ce build seulement",
  choose: "Choisissez…",
  narrow: "Filtrer les choix",
  noOption: "Aucun choix ne correspond.",
  addTag: "Ajouter une valeur",
  removeTag: (tag) => `Retirer ${tag}`,
  tagHint: "La touche Entrée ajoute une valeur.",
  onlyUp: "Ensuite, il ne pourra qu’être augmenté.",
  onlyDown: "Ensuite, il ne pourra qu’être diminué.",
  parameterError:
    "Le modèle demande ce paramètre d’une façon qui ne fonctionne pas. Prévenez la personne qui gère le modèle.",
  numberRange: (min, max) =>
    min !== undefined && max !== undefined
      ? `De ${min} à ${max}.`
      : min !== undefined
        ? `Au moins ${min}.`
        : `Au plus ${max}.`,
  outOfRange: (min, max) =>
    min !== undefined && max !== undefined
      ? `Doit être compris entre ${min} et ${max}.`
      : min !== undefined
        ? `Doit être au moins ${min}.`
        : `Doit être au plus ${max}.`,
  problems: {
    missing: "Une valeur est nécessaire.",
    number: "Ce n’est pas un nombre.",
    bool: "Choisissez oui ou non.",
    list: "Ce n’est pas une liste.",
    option: "Cette valeur n’est pas parmi les choix.",
  },
  origins: {
    link: "selon le lien",
    copy: "comme dans l’espace de travail copié",
    used: "votre dernier choix",
  },
  preset: "Préréglage",
  presetHint: "Un préréglage fixe plusieurs paramètres à la fois.",
  noPreset: "Aucun",
  fromPreset: (name) => `selon le préréglage ${name}`,
  submit: "Créer l’espace de travail",
  submitting: "Création…",
  version: "Version",
  activeVersion: (name) => `${name} (active)`,
  otherVersion:
    "Le lien indique une autre version, qui ne peut pas être choisie. Celle-ci est la version active.",
  deprecated: "Ce modèle est déconseillé",
  notReady: "La version active du modèle n’est pas prête : aucun espace de travail ne peut en être créé.",
  notAllowedText:
    "Demandez à la personne qui gère ce déploiement l’autorisation de créer des espaces de travail.",
  changeTemplate: "Choisir un autre modèle",
  what: "Ce qui va se passer",
  whatText: "L’espace de travail est construit et démarré aussitôt. Vous voyez le journal pendant ce temps.",
  stopsAfter: (time) => `Il s’arrête de lui-même au bout de ${time}.`,
  neverStops: "Il fonctionne jusqu’à ce que vous l’arrêtiez.",
  copyTitle: (workspace) => `Une copie de ${workspace}`,
  copyText:
    "Les paramètres, la planification et les mises à jour automatiques sont repris. Les fichiers et les programmes en cours ne le sont pas.",
  copyOther: (template) =>
    `Cet espace de travail a été créé à partir de ${template} : seuls les paramètres de même nom conviennent.`,
  copyFailed: "Le formulaire commence sans lui.",
  unknownParameters: (names) => `Le lien fixe des paramètres que ce modèle n’a pas : ${names}.`,
  consentTitle: "Un lien demande de créer cet espace de travail",
  consentText:
    "Ne continuez que si vous faites confiance à l’origine du lien. Il a choisi les valeurs marquées comme telles.",
  review: "Modifier d’abord",
  refuse: "Ne pas créer",
};
