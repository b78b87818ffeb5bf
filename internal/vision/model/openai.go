package model

import (
	"encoding/base64"
	"encoding/json"
)

// openai is the Chat Completions API, which other servers speak too: https://platform.openai.com/docs/api-reference/chat
type openai struct {
	limit string // the name of the limit of tokens: other servers know only its earlier name
}

func (p openai) encode(model string, q Question) (string, any) {
	content := []any{map[string]any{"type": "text", "text": q.Text}}
	if q.PNG != nil {
		address := "data:image/png;base64," + base64.StdEncoding.EncodeToString(q.PNG)
		content = append(content, map[string]any{"type": "image_url", "image_url": map[string]any{"url": address}})
	}
	return "/chat/completions", map[string]any{
		"model": model, p.limit: q.MaxTokens,
		"messages": []any{map[string]any{"role": "system", "content": q.System}, map[string]any{"role": "user", "content": content}},
	}
}

func (openai) decode(body []byte) (Answer, error) {
	var got struct {
		Model   string `json:"model"`
		Choices []struct {
			Finish  string `json:"finish_reason"`
			Message struct {
				Content, Refusal string
			} `json:"message"`
		} `json:"choices"`
		Usage struct {
			Input  int `json:"prompt_tokens"`
			Output int `json:"completion_tokens"`
		} `json:"usage"`
	}
	if err := json.Unmarshal(body, &got); err != nil {
		return Answer{}, err
	}
	a := Answer{Model: got.Model, InputTokens: got.Usage.Input, OutputTokens: got.Usage.Output}
	if len(got.Choices) > 0 {
		first := got.Choices[0]
		a.Text, a.IsCut = first.Message.Content, first.Finish == "length"
		a.IsRefusal = first.Message.Refusal != "" || first.Finish == "content_filter"
	}
	return a, nil
}
