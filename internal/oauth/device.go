package oauth

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/netguard"
)

// deviceGrant is the grant type of RFC 8628, section 3.4.
const deviceGrant = "urn:ietf:params:oauth:grant-type:device_code"

const (
	deviceInterval    = 5 * time.Second // default poll interval
	slowDownIncrement = 5 * time.Second // added at each slow_down
	maxPollInterval   = time.Minute     // maximum while the server is unreachable
)

// deviceAnswer is the response of a device authorization endpoint (RFC 8628, section 3.2).
type deviceAnswer struct {
	DeviceCode string  `json:"device_code"`
	UserCode   string  `json:"user_code"`
	URI        string  `json:"verification_uri"`
	Complete   string  `json:"verification_uri_complete"`
	ExpiresIn  seconds `json:"expires_in"`
	Interval   seconds `json:"interval"`
}

// authorizeByDevice runs the device authorization grant: the user types a code on another device
// with a browser. It opens nothing here.
func (l *Authorizer) authorizeByDevice(ctx context.Context, f *flow, s *server) error {
	p := f.realm
	var key *proofKey
	if s.Proofs {
		var err error
		if key, err = newProofKey(); err != nil {
			return err
		}
	}
	form := url.Values{"resource": {p.resource(s)}}
	if scopes := p.scopes(s); len(scopes) > 0 {
		form.Set("scope", strings.Join(scopes, " "))
	}
	if tools := l.tools(p); tools != "" {
		form.Set("aai_tools", tools)
	}
	a, err := l.post(ctx, s.Device, form, s.Client, key)
	if err != nil {
		return err
	}
	d, err := l.readDevice(s, a)
	if err != nil {
		return err
	}
	f.ends = time.Now().Add(min(deviceTime, d.ExpiresIn.duration()))
	f.publish(d.URI, aai.CleanLabel(d.UserCode, 60), false)
	t := p.newToken(s, key)
	if err := l.poll(ctx, t, d); err != nil {
		return err
	}
	return l.keepToken(ctx, p, s, t)
}

// readDevice checks the response of the device authorization endpoint. The user sees the page, so
// it must belong to the server's site.
func (l *Authorizer) readDevice(s *server, a *reply) (*deviceAnswer, error) {
	var d deviceAnswer
	if json.Unmarshal(a.body, &d) != nil || d.DeviceCode == "" || d.UserCode == "" || d.URI == "" || d.ExpiresIn == 0 {
		return nil, aai.Errorf(aai.AuthInvalid, "%s did not answer with a code for a device as in RFC 8628", hostOf(s.Device))
	}
	if err := l.secure("verification_uri", d.URI); err != nil {
		return nil, err
	}
	whole, err := url.Parse(d.Complete)
	if one, _ := originOf(d.URI); d.Complete != "" && err == nil && whole.Fragment == "" && whole.User == nil {
		if other, _ := originOf(d.Complete); one == other {
			d.URI = d.Complete // it contains the code; the user still compares it
		}
	}
	if !netguard.SameSite(hostname(s.Device), hostname(d.URI)) {
		return nil, aai.Errorf(aai.AuthInvalid, "%s sends people to %s to log in, which is another site", hostOf(s.Device), hostOf(d.URI))
	}
	return &d, nil
}

// poll requests the token as often as the server allows.
func (l *Authorizer) poll(ctx context.Context, t *token, d *deviceAnswer) error {
	interval := d.Interval.duration()
	if interval == 0 {
		interval = deviceInterval
	}
	for left := min(deviceTime, d.ExpiresIn.duration()); left > 0; left -= interval {
		if err := l.sleep(ctx, interval); err != nil {
			return err
		}
		err := l.exchange(ctx, t, url.Values{"grant_type": {deviceGrant}, "device_code": {d.DeviceCode}})
		switch {
		case err == nil:
			return nil
		case isRefusal(err, "authorization_pending"):
		case isRefusal(err, "slow_down"):
			interval += slowDownIncrement
		case isRefusal(err, "expired_token"):
			return loginTimeoutError{}
		case aai.AsError(err).Code == aai.AppNotRunning && !isRefusal(err):
			interval = min(2*interval, max(maxPollInterval, interval)) // RFC 8628, section 3.5
		default:
			return err
		}
	}
	return loginTimeoutError{}
}
