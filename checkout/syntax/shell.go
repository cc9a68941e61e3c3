package syntax

// How a shell quotes: a string in double quotes may hold commands, $(…), which hold strings of their own, and a backslash outside of any quotes
// makes an ordinary character of a quote.

// deepestShell is how deep strings and commands in each other are followed.
const deepestShell = 20

// shellString gives the end of the string in double quotes that opens at i; 0 where it is not closed near enough.
func (m *masker) shellString(i, depth int) int {
	if depth > deepestShell {
		return 0
	}
	for j := i + 1; j < min(i+farAhead, len(m.src)); j++ {
		switch {
		case m.src[j] == '\\':
			j++
		case m.src[j] == '"':
			return j + 1
		case m.has(j, "$("), m.has(j, "${"):
			end := m.shellCommand(j+1, depth+1)
			if end == 0 {
				return 0
			}
			j = end - 1
		}
	}
	return 0
}

// shellCommand gives the end of the $(…) or ${…} whose bracket stands at i, inside of a string.
func (m *masker) shellCommand(i, depth int) int {
	opens, closes := m.src[i], byte(')')
	if opens == '{' {
		closes = '}'
	}
	open := 1
	for j := i + 1; j < min(i+farAhead, len(m.src)); j++ {
		switch c := m.src[j]; {
		case c == '\\':
			j++
		case c == closes:
			if open--; open == 0 {
				return j + 1
			}
		case c == opens && opens == '(':
			open++
		case c == '"':
			end := m.shellString(j, depth+1)
			if end == 0 {
				return 0
			}
			j = end - 1
		case c == '\'' && opens == '(':
			end := m.shellPlain(j)
			if end == 0 {
				return 0
			}
			j = end - 1
		case m.has(j, "${"):
			if depth > deepestShell {
				return 0
			}
			end := m.shellCommand(j+1, depth+1)
			if end == 0 {
				return 0
			}
			j = end - 1
		}
	}
	return 0
}

// shellPlain gives the end of a string in single quotes: '…', where a backslash is one, or $'…', where it escapes.
func (m *masker) shellPlain(i int) int {
	escapes := i > 0 && m.src[i-1] == '$'
	for j := i + 1; j < min(i+farAhead, len(m.src)); j++ {
		switch {
		case m.src[j] == '\\' && escapes:
			j++
		case m.src[j] == '\'':
			return j + 1
		}
	}
	return 0
}

// shellQuoted blanks a string of a shell and gives its end; i where there is none, or none that closes.
func (m *masker) shellQuoted(i int) int {
	if m.failed > maxFailed {
		return i
	}
	end := 0
	if m.src[i] == '"' {
		end = m.shellString(i, 0)
	} else {
		end = m.shellPlain(i)
	}
	if end == 0 {
		m.failed++
		return i
	}
	m.blank(i+1, end-1, ' ')
	return end
}
