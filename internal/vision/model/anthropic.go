package model

import "encoding/json"

// anthropic is the Messages API: https://docs.anthropic.com/en/api/messages
type anthropic struct{}

func (anthropic) encode(model string, q Question) (string, any) {
	content := []any{}
	if q.PNG != nil {
		content = append(content, map[string]any{"type": "image", "source": map[string]any{"type": "base64", "media_type": "image/png", "data": q.PNG}})
	}
	content = append(content, map[string]any{"type": "text", "text": q.Text})
	return "/v1/messages", map[string]any{
		"model": model, "max_tokens": q.MaxTokens, "system": q.System,
		"messages": []any{map[string]any{"role": "user", "content": content}},
	}
}

func (anthropic) decode(body []byte) (Answer, error) {
	var got struct {
		Model   string `json:"model"`
		Stop    string `json:"stop_reason"`
		Content []struct {
			Type, Text string
		} `json:"content"`
		Usage struct {
			Input  int `json:"input_tokens"`
			Output int `json:"output_tokens"`
		} `json:"usage"`
	}
	if err := json.Unmarshal(body, &got); err != nil {
		return Answer{}, err
	}
	a := Answer{Model: got.Model, IsRefusal: got.Stop == "refusal", IsCut: got.Stop == "max_tokens", InputTokens: got.Usage.Input, OutputTokens: got.Usage.Output}
	for _, part := range got.Content {
		if part.Type == "text" {
			a.Text += part.Text
		}
	}
	return a, nil
}
