package checkout

// minPlaces is how many places indexPair looks at together, and so the fewest that it takes.
const minPlaces = 32
