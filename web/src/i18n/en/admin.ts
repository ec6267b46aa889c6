/** The pages of those who run the deployment. */

export const admin = {
  title: "Admin",
  pages: { users: "Users" },
};
