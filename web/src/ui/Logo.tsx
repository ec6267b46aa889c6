/** The product's mark. */

export const Logo = ({ size = 24 }: { size?: number }) => (
  <svg width={size} height={size} viewBox="0 0 32 32" aria-hidden="true">
    <rect x="2" y="2" width="28" height="28" rx="7" fill="var(--accent)" />
    <path
      d="m9 11 5 5-5 5M17 21h7"
      fill="none"
      stroke="var(--on-accent)"
      strokeWidth="3"
      strokeLinecap="round"
      strokeLinejoin="round"
    />
  </svg>
);
