# For scripts that test the program from outside: they source this, and end with exit "$failed".
failed=0

check() {  # TITLE COMMAND...
  local title=$1
  shift
  if "$@"; then echo "holds  $title"; else echo "FAILS  $title" && failed=1; fi
}

# The runs in a folder with results. The shell of SQLite is not always there; Python is.
stored() {  # FOLDER
  python3 -c 'import sqlite3, sys; print(sqlite3.connect(sys.argv[1] + "/runs.sqlite", timeout=60).execute("select count(*) from runs").fetchone()[0])' "$1" 2>/dev/null || echo 0
}
