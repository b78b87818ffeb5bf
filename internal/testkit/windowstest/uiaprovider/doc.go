// Package uiaprovider shows the controls of comwindow to UI Automation. It shares no code with the client, so that tests of the client have
// another one's word for what a provider is.
package uiaprovider
