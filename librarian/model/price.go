package model

// Price is what a model costs, in US dollars per million tokens.
type Price struct {
	Input      float64 `yaml:"input" json:"input"`
	CacheRead  float64 `yaml:"cache_read" json:"cache_read"`
	CacheWrite float64 `yaml:"cache_write" json:"cache_write"`
	Output     float64 `yaml:"output" json:"output"`
}

// Prices holds the known prices by provider/model-id. For a model that is not in it costs are unknown, not zero.
type Prices map[string]Price

// Cost is what a usage costs, in US dollars.
func (p Price) Cost(u Usage) float64 {
	const million = 1e6
	return (float64(u.Input)*p.Input + float64(u.CacheRead)*p.CacheRead + float64(u.CacheWrite)*p.CacheWrite +
		float64(u.Output)*p.Output) / million
}
