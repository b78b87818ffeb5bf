// Package programs finds the programs of Windows, by the registry's App Paths, the Start menu, the PATH and their files, and starts them so
// that they outlive the gateway.
//
// Apps of the Store are found only where a shortcut or an alias of the PATH names a file.
package programs
