package importers

import (
	"cmp"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
)

// address reads the URL of a remote server.
func (in *serverReader) address() {
	raw := in.text("url", "httpUrl", "serverUrl", "server_url", "uri")
	if raw == "" || in.common.Command != "" {
		return
	}
	u, err := url.Parse(raw)
	switch {
	case err != nil || u.Host == "":
		in.skip("its address is invalid")
		return
	case u.User != nil:
		in.skip("its address has a name and a password; give them by a header")
		return
	case strings.Contains(raw, "${"):
		in.skip("its address has %s, which the client fills in", quotedSetting("${…}"))
		return
	case strings.HasSuffix(strings.TrimSuffix(u.Path, "/"), "/sse"):
		in.skip("it speaks SSE, which was replaced by Streamable HTTP in 2025; give its newer address by hand")
		return
	}
	if name := secretQuery(u); name != "" {
		q := u.Query()
		in.key, in.auth = q.Get(name), &aai.AuthRecipe{Kind: aai.AuthAPIKey, In: "query", Name: name}
		q.Del(name)
		if again := secretQuery(&url.URL{RawQuery: q.Encode()}); again != "" {
			in.skip("its address has several keys")
			return
		}
		u.RawQuery = q.Encode()
	}
	u.Fragment, u.RawFragment = "", "" // it is not sent
	if keyInPath(u) {
		in.skip("its address has a part that looks like a key, and agents can read the address of an app. Let a program " +
			"connect to it, such as " +
			"\"npx mcp-remote ADDRESS\", whose arguments go into the vault, and import again")
		return
	}
	in.common.URL = u.String()
}

// headers reads the headers of each request to a remote server. The header that authenticates
// becomes a login with its key in the vault.
func (in *serverReader) headers(id string) {
	given := in.stringMap("headers", "http_headers", "requestInit")
	for name, variable := range in.stringMap("env_http_headers") {
		given[name] = "${" + variable + "}"
	}
	if name := in.text("bearer_token_env_var"); name != "" {
		given["Authorization"] = "Bearer ${" + name + "}"
	}
	names := slices.Sorted(maps.Keys(given))
	slices.SortStableFunc(names, func(a, b string) int { // the header of the login first
		return cmp.Compare(loginRank(a), loginRank(b))
	})
	for _, name := range names {
		key, value := http.CanonicalHeaderKey(name), strings.TrimSpace(given[name])
		switch {
		case key == "Accept" || key == "Content-Type" || key == "User-Agent" || key == "Mcp-Protocol-Version":
		case isSetting(key) && strings.Contains(value, "${"):
			in.note("its header %s has %s, which the client fills in, and is not taken over", aai.CleanLabel(name, 60),
				quotedSetting("${…}"))
		case isSetting(key):
			if in.common.Headers == nil {
				in.common.Headers = make(map[string]string)
			}
			in.common.Headers[name] = value
		case in.auth != nil:
			in.keyHeader(name, value)
		default:
			in.login(key, value, id)
		}
	}
}

func loginRank(header string) int {
	if http.CanonicalHeaderKey(header) == "Authorization" {
		return 0
	}
	return 1
}

// keyHeader reads a header that may hold a key beside the one that authenticates. Its value becomes a
// variable in the vault.
func (in *serverReader) keyHeader(name, value string) {
	if in.common.Headers == nil {
		in.common.Headers = make(map[string]string)
	}
	before := maps.Clone(in.values)
	in.common.Headers[name] = in.storeVariable(name, value)
	for variable := range in.values {
		if _, old := before[variable]; old {
			continue
		}
		if r, refers := referenceIn(value); refers {
			in.values[variable], in.references[variable] = "", r
		}
	}
}

// isSetting reports whether a header is known to hold no secret.
func isSetting(key string) bool {
	switch key {
	case "X-Mcp-Toolsets", "X-Mcp-Tools", "X-Mcp-Readonly", "X-Mcp-Lockdown", "X-Mcp-Insiders", "X-Mcp-Features":
		return true
	}
	return false
}

// login converts the header that authenticates to a login of the app.
func (in *serverReader) login(key, value, id string) {
	in.auth = &aai.AuthRecipe{Kind: aai.AuthAPIKey, In: "header", Name: key}
	if key == "Authorization" {
		scheme, rest, found := strings.Cut(value, " ")
		switch {
		case found && strings.EqualFold(scheme, "Bearer"):
			in.auth.Kind, in.auth.Prefix, value = aai.AuthBearer, "Bearer ", strings.TrimSpace(rest)
		case found && !strings.Contains(scheme, "$"):
			in.auth.Prefix, value = aai.CleanLabel(scheme, 40)+" ", strings.TrimSpace(rest)
		}
	}
	in.loginKey(key, value, id)
}

// noteUnused notes the fields that have no meaning for an app.
func (in *serverReader) noteUnused() {
	var others []string
	for _, name := range slices.Sorted(maps.Keys(in.fields)) {
		switch name {
		case "name", "description", "timeout", "tools", "alwaysAllow", "autoApprove", "trust", "bundled", "available_tools",
			"display_name", "headers", "http_headers", "env_http_headers", "bearer_token_env_var", "requestInit":
		default:
			if !slices.Contains(in.usedFields, name) {
				others = append(others, aai.CleanLabel(name, 40))
			}
		}
	}
	if len(others) > 0 {
		in.notes = append(in.notes, "other settings stay in the client's file: "+strings.Join(others, ", "))
	}
}
