package model

import "encoding/json"

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
