package model

import (
	"encoding/json"
	"net/url"
	"slices"
)

// gemini is the generateContent method: https://ai.google.dev/api/generate-content
type gemini struct{}

func (gemini) encode(model string, q Question) (string, any) {
	parts := []any{}
	if q.PNG != nil {
		parts = append(parts, map[string]any{"inlineData": map[string]any{"mimeType": "image/png", "data": q.PNG}})
	}
	parts = append(parts, map[string]any{"text": q.Text})
	return "/models/" + url.PathEscape(model) + ":generateContent", map[string]any{
		"systemInstruction": map[string]any{"parts": []any{map[string]any{"text": q.System}}},
		"contents":          []any{map[string]any{"role": "user", "parts": parts}},
		"generationConfig":  map[string]any{"maxOutputTokens": q.MaxTokens},
	}
}

func (gemini) decode(body []byte) (Answer, error) {
	var got struct {
		Model      string `json:"modelVersion"`
		Candidates []struct {
			Finish  string `json:"finishReason"`
			Content struct {
				Parts []struct {
					Text    string `json:"text"`
					Thought bool   `json:"thought"`
				} `json:"parts"`
			} `json:"content"`
		} `json:"candidates"`
		Feedback struct {
			Block string `json:"blockReason"`
		} `json:"promptFeedback"`
		Usage struct {
			Input    int `json:"promptTokenCount"`
			Output   int `json:"candidatesTokenCount"`
			Thoughts int `json:"thoughtsTokenCount"`
		} `json:"usageMetadata"`
	}
	if err := json.Unmarshal(body, &got); err != nil {
		return Answer{}, err
	}
	a := Answer{Model: got.Model, IsRefusal: got.Feedback.Block != "", InputTokens: got.Usage.Input, OutputTokens: got.Usage.Output + got.Usage.Thoughts}
	if len(got.Candidates) == 0 {
		return a, nil
	}
	first := got.Candidates[0]
	a.IsCut = first.Finish == "MAX_TOKENS"
	a.IsRefusal = a.IsRefusal || !slices.Contains([]string{"", "STOP", "MAX_TOKENS"}, first.Finish)
	for _, part := range first.Content.Parts {
		if !part.Thought {
			a.Text += part.Text
		}
	}
	return a, nil
}
