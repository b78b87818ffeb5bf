// Package msaa reads and operates elements by Microsoft Active Accessibility (IAccessible), for windows without UI Automation.
//
// An element is found again by its path: the indexes of its ancestors and its own. The ID also holds a digest of role and name, so that no
// other element in the place passes for it. Child windows are left out; their own reads have them. MSAA knows no bounds of numbers, no fields of
// several lines and no modal windows.
//
// Files without calls of Windows turn the facts about an element into a desktop.Element; they are tested on every system.
package msaa
