/** The pages about oneself. */

export const account = {
  title: "Account",
  pages: { profile: "Profile" },
};
