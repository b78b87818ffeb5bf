//go:build !linux

package doctor

import "context"

// ofTheDesktop are none: there are no ways to a desktop here yet.
func (d *Doctor) ofTheDesktop() []examination { return nil }

func (d *Doctor) greeted(context.Context) (bool, error) { return false, nil }

func (d *Doctor) forgetful(context.Context, *Finding, checked, []string) {}

// gateways cannot be told from other programs here.
func (d *Doctor) gateways(_ context.Context, f *Finding) {
	f.skip("on this system nobody can say whether another runs")
}
