package sanitize

import (
	"encoding/json"
	"net/url"
	"strings"
)

// credentialParts returns the parts of a credential that are credentials themselves: the password of an
// address and of "user:password", the token behind a scheme such as Bearer, and the secrets in a JSON
// document. Programs repeat them alone.
func credentialParts(secret string) []string {
	secret = strings.TrimSpace(secret)
	if strings.HasPrefix(secret, "{") || strings.HasPrefix(secret, "[") {
		return documentSecrets(secret)
	}
	if address, err := url.Parse(secret); err == nil && address.Host != "" {
		password, _ := address.User.Password()
		_, raw, _ := strings.Cut(secret, "://")
		raw, _, _ = strings.Cut(raw, "@")
		_, raw, _ = strings.Cut(raw, ":")
		if address.User == nil {
			raw = ""
		}
		return []string{password, raw}
	}
	if scheme, token, found := strings.Cut(secret, " "); found && !strings.Contains(token, " ") && isWord(scheme) {
		return []string{token}
	}
	if user, password, found := strings.Cut(secret, ":"); found && !strings.ContainsAny(secret, " \n") && user != "" {
		return []string{password}
	}
	return nil
}

// isWord reports whether the text has only ASCII letters.
func isWord(text string) bool {
	return text != "" && strings.Trim(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
}

// documentSecrets returns the texts of a JSON document under names that mark secrets.
func documentSecrets(document string) (texts []string) {
	var value any
	if json.Unmarshal([]byte(document), &value) != nil {
		return nil
	}
	RedactValue(value, func(hidden any) any {
		texts = AppendTexts(texts, hidden)
		return nil
	})
	lines := texts
	for _, text := range lines { // of a key in PEM
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(line); len(line) >= minSecretLine && line != text {
				texts = append(texts, line)
			}
		}
	}
	return texts
}
