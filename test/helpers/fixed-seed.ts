import fc from 'fast-check'

/** `npm test` tries the same cases each time: new seeds are for `npm run soak`, which does not load this file. */
fc.configureGlobal({ seed: 20_261_125 })
