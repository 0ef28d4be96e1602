# What PowerShell runs around a command: the state of the session before it (where it
# is, and the variables of its environment), and what it left after it. Functions,
# aliases and PowerShell's own variables stay with the command.
$ProgressPreference = 'SilentlyContinue'
$OutputEncoding = [Console]::OutputEncoding = New-Object Text.UTF8Encoding $false
$__sc = @{ line = $env:__sc_line; at = $env:__sc_at; keep = $env:__sc_keep; dir = "$env:__sc_home/$env:__sc_state"; code = 0 }
if (Test-Path -LiteralPath "$($__sc.dir)/state") {
  foreach ($__sc_set in [IO.File]::ReadAllLines("$($__sc.dir)/state")) {
    $__sc_name, $__sc_value = $__sc_set -split '=', 2
    if ($__sc_value) { [Environment]::SetEnvironmentVariable($__sc_name, [Text.Encoding]::UTF8.GetString([Convert]::FromBase64String($__sc_value))) }
  }
}
foreach ($__sc_set in @($env:__sc_env -split ' ')) {
  if ($__sc_set) {
    $__sc_name, $__sc_value = $__sc_set -split '=', 2
    [Environment]::SetEnvironmentVariable($__sc_name, [Text.Encoding]::UTF8.GetString([Convert]::FromBase64String($__sc_value)))
  }
}
Remove-Item env:__sc_*
Set-Location -LiteralPath $__sc.at
$global:LASTEXITCODE = 0
try {
  . ([scriptblock]::Create($__sc.line))
  if (-not $?) { $__sc.code = 1 }
  if ($global:LASTEXITCODE) { $__sc.code = $global:LASTEXITCODE }
} catch {
  [Console]::Error.WriteLine(($_ | Out-String).Trim())
  $__sc.code = 1
} finally {
  if ($__sc.keep -eq '1') {
    $__sc_utf8 = New-Object Text.UTF8Encoding $false
    $__sc_all = Get-ChildItem env: | Where-Object { $_.Value -and $_.Name -notmatch '^GIT_CONFIG_(COUNT$|KEY_|VALUE_)' } | ForEach-Object { $_.Name + '=' + [Convert]::ToBase64String($__sc_utf8.GetBytes($_.Value)) }
    [IO.File]::WriteAllText("$($__sc.dir)/state.new", (@($__sc_all) -join "`n") + "`n# the end`n", $__sc_utf8)
    [IO.File]::WriteAllText("$($__sc.dir)/cwd", (Get-Location -PSProvider FileSystem).ProviderPath, $__sc_utf8)
  }
}
exit $__sc.code
