package oauth_test

import (
	"crypto"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"

	"github.com/go-jose/go-jose/v4"
)

// proves checks a proof of possession (RFC 9449, section 4.3).
func (a *api) proves(w http.ResponseWriter, r *http.Request, token string, about map[string]any) bool {
	refuse := func(why string) bool {
		w.Header().Set("WWW-Authenticate", `DPoP algs="ES256", error="`+why+`"`)
		http.Error(w, "no", http.StatusUnauthorized)
		return false
	}
	signed, err := jose.ParseSignedCompact(r.Header.Get("DPoP"), []jose.SignatureAlgorithm{jose.ES256})
	if err != nil || len(signed.Signatures) != 1 || signed.Signatures[0].Protected.JSONWebKey == nil {
		return refuse("invalid_dpop_proof")
	}
	header := signed.Signatures[0].Protected
	payload, err := signed.Verify(header.JSONWebKey)
	if err != nil || header.ExtraHeaders[jose.HeaderType] != "dpop+jwt" {
		return refuse("invalid_dpop_proof")
	}
	var claims struct {
		HTM, HTU, JTI, ATH, Nonce string
		IAT                       int64
	}
	if json.Unmarshal(payload, &claims) != nil {
		return refuse("invalid_dpop_proof")
	}
	sum, _ := header.JSONWebKey.Thumbprint(crypto.SHA256)
	bound, _ := about["cnf"].(map[string]any)
	ath := sha256.Sum256([]byte(token))
	if claims.HTM != r.Method || claims.HTU != a.URL+r.URL.Path || claims.JTI == "" || claims.IAT == 0 ||
		claims.ATH != base64.RawURLEncoding.EncodeToString(ath[:]) || bound["jkt"] != base64.RawURLEncoding.EncodeToString(sum) {
		return refuse("invalid_dpop_proof")
	}
	if want := a.nonce.Load(); want != nil && claims.Nonce != *want {
		w.Header().Set("DPoP-Nonce", *want)
		return refuse("use_dpop_nonce")
	}
	return true
}
