// Package fakeserver is an app with an automation interface, as a process of its own, for the tests of the COM driver. It shares no
// code with the driver. Only Windows has it.
package fakeserver
