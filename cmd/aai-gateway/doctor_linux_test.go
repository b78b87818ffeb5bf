package main_test

import "testing"

// On a computer where all is as it should be the doctor says so, of everything.
func TestDoctorGreen(t *testing.T) {
	m := switchedOn(t)
	r, exit := m.doctor("")
	for _, f := range r.Checks {
		if f.State != "ok" || len(f.Commands) > 0 {
			t.Errorf("%s is %s: %s %v", f.Check, f.State, f.Saw, f.Commands)
		}
	}
	if exit != 0 || len(r.Checks) != 14 || r.State != "ok" {
		t.Errorf("exit code %d: %s", exit, r)
	}
}
