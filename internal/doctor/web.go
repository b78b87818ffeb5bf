package doctor

import (
	"context"
	"errors"
	"fmt"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/testkit/sampleapp"
)

// web discovers the doctor's own web app on the loopback interface, logs in, and calls it.
func (d *Doctor) web(ctx context.Context, f *Finding) {
	site, err := sampleapp.Serve(ctx)
	if err != nil {
		f.setCallError("no server can run on the loopback interface", err)
		f.Advice = "Switch it on, and check a firewall or sandbox that may block it:"
		f.Commands = []string{asRoot("ip link set lo up")}
		return
	}
	defer site.Close()
	s, err := d.newScratch(nil)
	if err != nil {
		f.setCallError("no temporary folder", err)
		return
	}
	defer s.end() //nolint:errcheck // leftovers are in the temporary folder
	if err := d.useSampleApp(ctx, s.gateway, site); err != nil {
		f.setCallError("the web app could not be used", err)
		return
	}
	f.setOK("the app refused without a login, and answered after it")
}

// useSampleApp adds an item to the site's list through the gateway, and checks it at the site.
func (d *Doctor) useSampleApp(ctx context.Context, g *gateway.Gateway, site *sampleapp.App) error {
	const errand = "Water the plants"
	_, err := call(ctx, g, site.Address, "list_errands", nil)
	if err == nil {
		return errors.New("it answered without a login")
	}
	e := aai.AsError(err)
	if e.Code != aai.AuthRequired || e.LoginURL == "" {
		return fmt.Errorf("expected to be asked to log in: %w", err)
	}
	if err := site.PressAllow(ctx, e.LoginURL); err != nil {
		return fmt.Errorf("the login did not end: %w", err)
	}
	if _, err := call(ctx, g, site.Address, "add_errand", map[string]any{"what": errand}); err != nil {
		return err
	}
	if list := site.List(); len(list) == 0 || list[len(list)-1] != errand {
		return fmt.Errorf("the app's list is %q", list)
	}
	return nil
}
