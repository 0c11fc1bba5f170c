/** The icon of the window: two speech bubbles that became one round arrow. */
export const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">
<rect width="32" height="32" rx="7" fill="#1d5fb8"/>
<g fill="none" stroke="#fff" stroke-width="3" stroke-linecap="round" stroke-linejoin="round">
<path d="M24 13a9 9 0 0 0-16.5-1.5M7 6.500v5.500h5.500"/>
<path d="M8 19a9 9 0 0 0 16.500 1.500M25 25.500v-5.500h-5.500"/>
</g>
</svg>
`
