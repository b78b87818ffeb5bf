package oauth

import (
	"cmp"
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
)

// Status returns the stored logins for the host, or all with "", ordered by host. It reads only
// Secrets.
func (l *Authorizer) Status(ctx context.Context, host string) ([]answer.Login, error) {
	states := []answer.Login{}
	err := l.eachRecord(ctx, tokenPrefix, func(_ string, raw []byte) error {
		var t token
		if !decodeRecord(raw, &t) || host != "" && t.Host != host {
			return nil
		}
		s := answer.Login{
			Host: t.Host, App: t.App, Kind: t.Kind, State: "logged in", Expires: t.Expires, AutoRenews: t.Refresh != "" || t.Kind == aai.AuthAppCredential,
			Scopes: t.Scopes, Issuer: t.Issuer, Client: t.Client.ID,
		}
		if !t.isValid(l.now()) && !s.AutoRenews {
			s.State = "expired"
		}
		states = append(states, s)
		return nil
	})
	if err != nil {
		return nil, err
	}
	err = l.eachRecord(ctx, keyPrefix, func(_ string, raw []byte) error {
		var k storedCredentials
		if decodeRecord(raw, &k) && (host == "" || k.Host == host) {
			states = append(states, answer.Login{Host: k.Host, App: k.App, Kind: k.Kind, State: "key kept"})
		}
		return nil
	})
	slices.SortFunc(states, func(a, b answer.Login) int { return cmp.Or(cmp.Compare(a.Host, b.Host), cmp.Compare(a.Kind, b.Kind)) })
	return states, err
}

// eachRecord calls f with every stored record under the prefix.
func (l *Authorizer) eachRecord(ctx context.Context, prefix string, f func(id string, raw []byte) error) error {
	names, err := l.cfg.Secrets.Names(ctx, prefix)
	if err != nil {
		return storeError(err)
	}
	for _, id := range names {
		if !strings.HasPrefix(id, prefix) {
			continue
		}
		raw, err := l.get(ctx, id)
		if err != nil {
			return err
		}
		if raw == nil {
			continue
		}
		if err := f(id, raw); err != nil {
			return err
		}
	}
	return nil
}

// Logout deletes the logins and the entered credentials of the host. The server revokes the refresh
// token and then the access token (RFC 7009); the gateway deletes both, also if the revocation
// fails. Logout cancels a waiting login.
func (l *Authorizer) Logout(ctx context.Context, host string) (*answer.Logout, error) {
	l.cancelLogins(host)
	bye := &answer.Logout{Host: host}
	err := l.eachRecord(ctx, tokenPrefix, func(id string, raw []byte) error {
		var seen token
		if !decodeRecord(raw, &seen) || seen.Host != host {
			return nil
		}
		var t token
		if err := l.update(ctx, id, func(old []byte) ([]byte, error) {
			t = token{}
			_ = json.Unmarshal(old, &t) // an unreadable record is deleted too
			l.revoke(ctx, &t, bye)
			return nil, nil
		}); err != nil {
			return err
		}
		bye.Forgotten++
		return nil
	})
	if err != nil {
		return bye, err
	}
	for prefix, counts := range map[string]int{keyPrefix: 1, serverPrefix: 0} {
		if err := l.eachRecord(ctx, prefix, func(id string, raw []byte) error {
			var about struct{ Host string }
			if !decodeRecord(raw, &about) || about.Host != host {
				return nil
			}
			bye.Forgotten += counts
			return l.clear(ctx, id)
		}); err != nil {
			return bye, err
		}
	}
	return bye, nil
}

// clear deletes the record under the id, except the user's client settings.
func (l *Authorizer) clear(ctx context.Context, id string) error {
	return l.update(ctx, id, func(old []byte) ([]byte, error) {
		var s server
		if !strings.HasPrefix(id, serverPrefix) || !decodeRecord(old, &s) || s.Chosen.ID == "" {
			return nil, nil
		}
		return json.Marshal(server{Host: s.Host, Chosen: s.Chosen})
	})
}

// cancelLogins cancels the waiting logins to the host.
func (l *Authorizer) cancelLogins(host string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, f := range l.flows {
		if f.realm.host() == host {
			f.cancel()
		}
	}
}

// revoke revokes the tokens, the refresh token first.
func (l *Authorizer) revoke(ctx context.Context, t *token, bye *answer.Logout) {
	if t.Revoke == "" {
		if t.Access != "" {
			bye.Warnings = append(bye.Warnings, "the authorization server cannot revoke a token; it expires by itself")
		}
		return
	}
	for _, it := range []struct{ token, hint string }{{t.Refresh, "refresh_token"}, {t.Access, "access_token"}} {
		if it.token == "" {
			continue
		}
		form := url.Values{"token": {it.token}, "token_type_hint": {it.hint}}
		if _, err := l.post(ctx, t.Revoke, form, t.Client, t.Key); err != nil {
			bye.Warnings = append(bye.Warnings, "the "+strings.ReplaceAll(it.hint, "_", " ")+" could not be revoked: "+err.Error())
			continue
		}
		bye.Revoked++
	}
}

// Login runs a login at a page, also if the user is already logged in, and waits for it: at most
// five minutes, or fifteen with a device code. It reports the address to gateway.Progress. If ctx ends
// sooner, the login continues. For an app without OAuth, Login returns an error unless the
// credentials are stored.
func (l *Authorizer) Login(ctx context.Context, r *aai.Recipe) error {
	p, err := l.realmOf(ctx, r)
	if err != nil {
		return err
	}
	if p == nil {
		return aai.Errorf(aai.InvalidParams, "%s needs no login", aai.CleanLabel(r.App, 60))
	}
	if p.auth.Kind != aai.AuthOAuth2 {
		_, err := l.values(ctx, p)
		return err
	}
	return l.logIn(ctx, p, func(*flow) {})
}

// SetClient stores the client id, and its secret or "", that the user got from the app's
// authorization server. They take precedence over all others.
func (l *Authorizer) SetClient(ctx context.Context, r *aai.Recipe, clientID, secret string) error {
	p, err := l.realmOf(ctx, r)
	if err != nil {
		return err
	}
	if p == nil || p.auth.Kind != aai.AuthOAuth2 || clientID == "" || !visible(clientID) || len(clientID) > 1000 {
		return aai.Errorf(aai.InvalidParams, "client id: expected one word of visible ASCII characters, for an app with OAuth")
	}
	who := identity{ID: clientID, Source: fromConfig}
	if secret = strings.TrimSpace(secret); secret != "" {
		who.SecretID = secretPrefix + digest("secret|v1", p.serverID())
		if err := l.update(ctx, who.SecretID, func([]byte) ([]byte, error) { return []byte(secret), nil }); err != nil {
			return err
		}
	}
	return l.updateServer(ctx, p, func(s *server) { s.Chosen = who })
}

// UntrustedHosts returns the hosts of other sites that the app's logins and calls use and the user
// does not trust yet. A local descriptor has none.
func (l *Authorizer) UntrustedHosts(ctx context.Context, r *aai.Recipe) []string {
	p, err := newRealm(r)
	if err != nil || p == nil || p.origin == "" {
		return nil
	}
	return slices.DeleteFunc(p.foreignHosts(), func(host string) bool { return l.trusted(ctx, p, host) })
}
