package model

// New makes the adapter that a provider's name asks for: "anthropic", "bedrock", "vertex", "openai", and under any other
// name one for an endpoint that is compatible with OpenAI's. It connects to nothing.
func New(o Options) (Model, error) {
	switch o.Provider {
	case "anthropic":
		return NewAnthropic(o)
	case "bedrock":
		return NewBedrock(o)
	case "vertex":
		return NewVertex(o)
	case "openai":
		return NewOpenAI(o)
	}
	return NewCompatible(o)
}
