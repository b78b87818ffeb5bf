//go:build !linux

package doctor

import "context"

// desktopExaminations returns none: no desktop integrations are implemented for this system.
func (d *Doctor) desktopExaminations() []examination { return nil }

func (d *Doctor) busAnswers(context.Context) (bool, error) { return false, nil }

func (d *Doctor) suggestForBareClient(context.Context, *Finding, gatewayCheck, []string) {}

// gateways is skipped: this system does not distinguish gateways from other programs.
func (d *Doctor) gateways(_ context.Context, f *Finding) {
	f.setSkipped("on this system other gateways cannot be detected")
}
