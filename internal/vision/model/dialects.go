package model

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
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

// ollama is the chat API of Ollama: https://github.com/ollama/ollama/blob/main/docs/api.md
type ollama struct{}

func (ollama) encode(model string, q Question) (string, any) {
	message := map[string]any{"role": "user", "content": q.Text}
	if q.PNG != nil {
		message["images"] = []any{q.PNG}
	}
	return "/api/chat", map[string]any{
		"model": model, "stream": false, "options": map[string]any{"num_predict": q.MaxTokens},
		"messages": []any{map[string]any{"role": "system", "content": q.System}, message},
	}
}

func (ollama) decode(body []byte) (Answer, error) {
	var got struct {
		Model   string `json:"model"`
		Reason  string `json:"done_reason"`
		Message struct {
			Content string `json:"content"`
		} `json:"message"`
		Input  int `json:"prompt_eval_count"`
		Output int `json:"eval_count"`
	}
	if err := json.Unmarshal(body, &got); err != nil {
		return Answer{}, err
	}
	return Answer{Text: got.Message.Content, Model: got.Model, IsCut: got.Reason == "length", InputTokens: got.Input, OutputTokens: got.Output}, nil
}
