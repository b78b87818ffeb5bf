package config

import (
	"errors"

	"github.com/gybob/aai-gateway/internal/vision/model"
)

// Vision configures the model that is asked about pictures. A picture goes to its host only after the person's consent.
type Vision struct {
	Backend, Model, BaseURL string
	// InputPrice and OutputPrice are in US dollars for a million tokens; 0: unknown.
	InputPrice, OutputPrice float64
}

func defaultVision() Vision { return Vision{Backend: model.Auto} }

// maxPrice limits a price, in US dollars for a million tokens.
const maxPrice = 10_000

// visionSettings returns the settings about the model for pictures. Another address gets the person's key.
func visionSettings() []settingSpec {
	price := func(of func(*Config) *float64) settingValue {
		return valueOf(KindNumber, of, func(value any) (float64, error) {
			n, ok := parseNumber(value)
			if !ok || !(0 <= n && n <= maxPrice) {
				return 0, errors.New("expected US dollars for a million tokens, 0 to 10000")
			}
			return n, nil
		})
	}
	return []settingSpec{
		{"vlm.backend", "the model that is asked about pictures; auto: by the keys in the environment, otherwise client, the model of the agent's client",
			widensNever, bothSpellings("VLM_BACKEND"), choiceAt(func(c *Config) *string { return &c.Vision.Backend }, model.Backends()...)},
		{"vlm.model", "the name of the model; empty: the default of the backend", widensNever, bothSpellings("VLM_MODEL"),
			valueOf(KindText, func(c *Config) *string { return &c.Vision.Model }, func(value any) (string, error) {
				if s, is := value.(string); is && (s == "" || isWord(s)) {
					return s, nil
				}
				return "", errors.New("expected the name of a model, without spaces")
			})},
		{"vlm.base_url", "the address of a server that speaks the protocol of the backend, in place of its own; it gets your key", widensUnlessDefault,
			bothSpellings("VLM_BASE_URL"), urlAt(func(c *Config) *string { return &c.Vision.BaseURL })},
		{"vlm.input_price", "US dollars for a million tokens of questions, to compute costs; 0: unknown", widensNever, nil,
			price(func(c *Config) *float64 { return &c.Vision.InputPrice })},
		{"vlm.output_price", "US dollars for a million tokens of answers, to compute costs; 0: unknown", widensNever, nil,
			price(func(c *Config) *float64 { return &c.Vision.OutputPrice })},
	}
}
