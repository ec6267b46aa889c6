/** The pages about oneself, the inbox, and the command palette. */

import type { Catalogue } from "../en";
import { plural } from "../plural";

const n = new Intl.NumberFormat("fr");
const count = (value: number, one: string, other: string) =>
  `${n.format(value)} ${plural("fr", value, { one, other })}`;

export const account: Catalogue["account"] = {
  title: "Compte",
  pages: {
    profile: "Profil",
    security: "Sécurité",
    appearance: "Apparence",
    tokens: "Jetons",
    sshKey: "Clé SSH",
    notifications: "Notifications",
  },
  profile: {
    email: "Adresse e-mail",
    emailHint: "Elle sert à vous connecter. Elle ne peut pas être modifiée ici.",
    usernameHint:
      "Lettres, chiffres et traits d’union isolés. Il figure dans les adresses de vos espaces de travail : les liens vers eux changent avec lui.",
  },
  security: {
    lead: "Le nouveau mot de passe est valable aussitôt. Toutes vos autres sessions se terminent ; les jetons restent valables.",
    old: "Ancien mot de passe",
    new: "Nouveau mot de passe",
    change: "Changer le mot de passe",
    changed: "Le mot de passe est changé.",
    noPassword: "Votre compte n’a pas de mot de passe ici",
    noPasswordText: (way) => `Vous vous connectez par ${way}. Changez-y votre mot de passe.`,
    ways: {
      "": "un autre service",
      password: "mot de passe",
      github: "GitHub",
      oidc: "OpenID Connect",
      token: "jeton",
      none: "jetons uniquement",
    },
  },
  appearance: {
    saved:
      "Le thème et la police du terminal sont enregistrés avec votre compte, la langue dans ce navigateur.",
    font: "Police du terminal",
    fontUsual: "Comme le système",
    fontHint:
      "Les polices ne sont pas chargées depuis le serveur : une police est utilisée là où votre machine la possède.",
    fontAbsent: (font) => `Cette machine n’a pas ${font}. Ses terminaux utilisent la police habituelle.`,
    sample: "Échantillon de la police du terminal",
  },
  tokens: {
    lead: "Avec un jeton, un programme ou un script agit en votre nom. Donnez à chacun le sien, afin de pouvoir le retirer.",
    create: "Nouveau jeton",
    createTitle: "Nouveau jeton",
    name: "Nom",
    nameHint:
      "À quoi il sert. Lettres et chiffres, avec des traits d’union, points ou traits de soulignement isolés.",
    lifetime: "Durée de validité",
    days: (value) => count(value, "jour", "jours"),
    custom: "Jusqu’à une date",
    until: "Dernier jour",
    untilHint: (day) => `Au plus tard le ${day}.`,
    longest: (time) => `La plus longue autorisée : ${time}`,
    scope: "Portée",
    scopes: {
      all: "Tout ce que vous avez le droit de faire",
      application_connect: "Seulement les applications des espaces de travail",
    },
    submit: "Créer le jeton",
    once: "Copiez le jeton maintenant. Personne ne pourra le relire.",
    token: "Jeton",
    done: "Terminé",
    columns: {
      name: "Nom",
      scope: "Portée",
      created: "Créé",
      used: "Dernière utilisation",
      expires: "Expiration",
      actions: "Actions",
    },
    never: "jamais",
    expired: "Expiré",
    emptyTitle: "Aucun jeton",
    delete: "Supprimer",
    deleteOf: (name) => `Supprimer le jeton ${name}`,
    deleteLead: "Ce qui l’utilise ne pourra plus se connecter. C’est irréversible.",
  },
  sshKey: {
    lead: "Les espaces de travail utilisent cette clé pour git par SSH. Donnez sa moitié publique à votre serveur git.",
    public: "Clé publique",
    made: (time) => `créée ${time}`,
    regenerate: "Régénérer",
    regenerateTitle: "Régénérer la clé SSH ?",
    regenerateLead:
      "Vos serveurs git refuseront vos espaces de travail tant que vous ne leur aurez pas donné la nouvelle clé publique. L’ancienne clé est perdue.",
  },
  notifications: {
    lead: "Choisissez ce dont vous êtes averti.",
    by: (methods) => `Elles arrivent par : ${methods}.`,
    methods: { inbox: "la boîte de réception", smtp: "e-mail", webhook: "webhook" },
    paused:
      "Les notifications sont suspendues pour tout le monde. La personne qui gère ce déploiement peut les rétablir.",
    test: "Envoyer une notification d’essai",
    tested: "Envoyée. Elle apparaît dans la boîte de réception.",
    none: "Le serveur n’envoie aucune notification.",
    groups: {
      "User Events": "Utilisateurs",
      "Notification Events": "Notifications",
      "Workspace Events": "Espaces de travail",
      "Template Events": "Modèles",
    },
    kinds: {
      "4e19c0ac-94e1-4532-9515-d1801aa283b2": "Compte créé",
      "f44d9314-ad03-4bc8-95d0-5cad491da6b6": "Compte supprimé",
      "b02ddd82-4733-4d02-a2d7-c36f3598997d": "Compte suspendu",
      "9f5af851-8408-4e73-a7a1-c6502ba46689": "Compte réactivé",
      "c425f63e-716a-4bf4-ae24-78348f706c3f": "Notification d’essai",
    },
  },
  cli: {
    title: "Se connecter ailleurs",
    lead: "Copiez ce jeton de session et collez-le là où la commande coder ou l’extension VS Code le demande.",
    token: "Jeton de session",
    secret: "Il permet à qui le détient d’agir en votre nom. Ne le donnez à personne.",
    making: "Création d’un jeton de session…",
    hidden: "Le jeton est créé quand vous regardez cette page.",
    toWorkspaces: "Aller à vos espaces de travail",
  },
  terms: "Conditions d’utilisation",
};

export const inbox: Catalogue["inbox"] = {
  title: "Notifications",
  unread: (value) => `Notifications : ${count(value, "non lue", "non lues")}`,
  new: (title) => `Nouvelle notification : ${title}`,
  markAll: "Tout marquer comme lu",
  markRead: "Marquer comme lue",
  markUnread: "Marquer comme non lue",
  isUnread: "Non lue",
  older: "Charger les précédentes",
  emptyTitle: "Rien pour l’instant",
  emptyText: "Vous apprenez ici ce qui arrive à vos espaces de travail et à votre compte.",
  settings: "Paramètres",
};

export const palette: Catalogue["palette"] = {
  open: "Rechercher",
  title: "Palette de commandes",
  placeholder: "Espace, modèle, page ou action",
  placeholderActions: (workspace) => `Que faire de ${workspace}`,
  groups: {
    recent: "Récents",
    workspaces: "Espaces de travail",
    templates: "Modèles",
    pages: "Pages",
    actions: "Actions",
    more: "Autres espaces de travail",
  },
  nothing: (query) => `Rien n’a été trouvé pour « ${query} ».`,
  searching: "Recherche…",
  results: (value) => count(value, "résultat", "résultats"),
  actionsOf: (name) => `Actions pour ${name}`,
  back: "Retour",
  newFrom: (template) => `Nouvel espace de travail à partir de ${template}`,
  template: "Modèle",
  theme: (theme) => `Thème : ${theme}`,
  language: (language) => `Langue : ${language}`,
  page: (area, page) => `${area} : ${page}`,
  now: "actuel",
  hints: { move: "se déplacer", choose: "choisir", actions: "actions", back: "retour", close: "fermer" },
  shortcuts: "Raccourcis clavier",
  keys: {
    everywhere: "Partout",
    palette: "Recherche et commandes",
    list: "Cette liste",
    close: "Fermer une boîte de dialogue ou un menu",
    inPalette: "Dans la palette de commandes",
    move: "Déplacer la sélection",
    choose: "Choisir",
    actions: "Actions pour un espace de travail",
    back: "Retour",
    inLog: "Dans la recherche d’un journal",
    next: "Résultat suivant",
    previous: "Résultat précédent",
    clear: "Effacer la recherche",
    terminal: "Dans un terminal, ? et Ctrl K appartiennent au programme qui y tourne.",
  },
};
