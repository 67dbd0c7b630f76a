; Per-user Setup of Pinfill. Defines: VERSION, VERSION4 (four numbers), LABEL, SOURCE (the folder to install), KIB (its
; size), OUTPUT, COMPRESSOR. 64-bit like what it installs: the stubs for that come with Debian's NSIS.
Target amd64-unicode
ManifestDPIAware true
RequestExecutionLevel user
SetCompressor ${COMPRESSOR}

!include MUI2.nsh
!include LogicLib.nsh

!define UNINSTALL "Software\Microsoft\Windows\CurrentVersion\Uninstall\Pinfill"
!define RUN "Software\Microsoft\Windows\CurrentVersion\Run"
!define START '"$INSTDIR\pythonw.exe" -P -m pinfill_app'

Name "Pinfill ${LABEL}"
OutFile "${OUTPUT}"
InstallDir "$LOCALAPPDATA\Programs\Pinfill"
InstallDirRegKey HKCU "${UNINSTALL}" "InstallLocation"
VIProductVersion "${VERSION4}"
VIAddVersionKey "ProductName" "Pinfill"
VIAddVersionKey "ProductVersion" "${LABEL}"
VIAddVersionKey "FileVersion" "${LABEL}"
VIAddVersionKey "FileDescription" "Setup of Pinfill"
VIAddVersionKey "LegalCopyright" "Apache-2.0"

!define MUI_ICON "${SOURCE}\pinfill.ico"
!define MUI_UNICON "${SOURCE}\pinfill.ico"
!define MUI_FINISHPAGE_RUN
!define MUI_FINISHPAGE_RUN_FUNCTION Start
!define MUI_FINISHPAGE_RUN_TEXT "$(StartPinfill)"
!insertmacro MUI_PAGE_COMPONENTS
!insertmacro MUI_PAGE_INSTFILES
!insertmacro MUI_PAGE_FINISH
!insertmacro MUI_UNPAGE_CONFIRM
!insertmacro MUI_UNPAGE_INSTFILES
; The system's language is taken; English, the first, where it is none of these.
!insertmacro MUI_LANGUAGE "English"
!insertmacro MUI_LANGUAGE "German"
!insertmacro MUI_LANGUAGE "SimpChinese"

!macro Words NAME EN DE ZH
LangString ${NAME} ${LANG_ENGLISH} "${EN}"
LangString ${NAME} ${LANG_GERMAN} "${DE}"
LangString ${NAME} ${LANG_SIMPCHINESE} "${ZH}"
!macroend

!insertmacro Words StartPinfill "Start Pinfill" "Pinfill starten" "启动 Pinfill"
!insertmacro Words AtSignIn "Start when I sign in" "Bei Anmeldung starten" "登录时启动"
!insertmacro Words Closes "Pinfill is running. Setup closes it; answers under way end." \
  "Pinfill läuft. Setup beendet es; laufende Antworten brechen ab." "Pinfill 正在运行。安装程序会关闭它；正在进行的回答会中断。"
!insertmacro Words StillRuns "Pinfill still runs." "Pinfill läuft noch." "Pinfill 仍在运行。"
!insertmacro Words QuitFirst "Pinfill still runs. Quit it, then try again." \
  "Pinfill läuft noch. Beenden Sie es und versuchen Sie es dann noch einmal." "Pinfill 仍在运行。请退出它，然后重试。"
!insertmacro Words NotWritten "Files could not be written to $INSTDIR." \
  "Dateien konnten nicht in $INSTDIR geschrieben werden." "无法将文件写入 $INSTDIR。"
!insertmacro Words RemoveAll \
  "Remove models, pins, settings and the key too? 'No' keeps them for another installation." \
  "Auch Modelle, Pins, Einstellungen und den Schlüssel entfernen? „Nein“ behält sie für eine andere Installation." \
  "同时移除模型、固定项、设置和密钥吗？选择“否”会保留它们，供以后安装时使用。"

Var WasRunning

; Ends what runs from $INSTDIR, after asking. Sets WasRunning to 1 when the application has to be started again.
!macro CloseRunning UN
Function ${UN}CloseRunning
  StrCpy $WasRunning 0
  ${IfNot} ${FileExists} "$INSTDIR\python.exe"
    Return
  ${EndIf}
  InitPluginsDir
  File "/oname=$PLUGINSDIR\running.py" "${SOURCE}\running.py"
  nsExec::ExecToStack '"$INSTDIR\python.exe" -I "$PLUGINSDIR\running.py" list "$INSTDIR"'
  Pop $0
  Pop $1
  ${If} $0 == 10
    MessageBox MB_OKCANCEL|MB_ICONINFORMATION "$(Closes)" /SD IDOK IDOK close
    Abort
    close:
    nsExec::ExecToStack '"$INSTDIR\python.exe" -I "$PLUGINSDIR\running.py" stop "$INSTDIR"'
    Pop $0
    Pop $1
    StrCpy $1 $1 11
    ${If} $1 == "application"
      StrCpy $WasRunning 1
    ${EndIf}
  ${EndIf}
  Call ${UN}RefuseInUse
FunctionEnd

; A program that runs cannot be opened for writing, whatever was found out about it.
Function ${UN}RefuseInUse
  again:
  ClearErrors
  FileOpen $0 "$INSTDIR\python.exe" a
  ${IfNot} ${Errors}
    FileClose $0
    FileOpen $0 "$INSTDIR\pythonw.exe" a
  ${EndIf}
  ${If} ${Errors}
    MessageBox MB_RETRYCANCEL|MB_ICONEXCLAMATION "$(QuitFirst)" /SD IDCANCEL IDRETRY again
    SetErrorLevel 3
    Abort "$(StillRuns)"
  ${EndIf}
  FileClose $0
FunctionEnd
!macroend
!insertmacro CloseRunning ""
!insertmacro CloseRunning "un."

Function Start
  Exec '${START}'
FunctionEnd

Section "Pinfill"
  SectionIn RO
  Call CloseRunning
  ${If} ${FileExists} "$INSTDIR\uninstall.exe"
    RMDir /r "$INSTDIR\lib"
    RMDir /r "$INSTDIR\licences"
  ${EndIf}
  SetOutPath "$INSTDIR"
  ClearErrors
  File /r "${SOURCE}/*.*"
  ${If} ${Errors}
    SetErrorLevel 2
    Abort "$(NotWritten)"
  ${EndIf}
  WriteUninstaller "$INSTDIR\uninstall.exe"

  CreateDirectory "$SMPROGRAMS\Pinfill"
  CreateShortcut "$SMPROGRAMS\Pinfill\Pinfill.lnk" "$INSTDIR\pythonw.exe" "-P -m pinfill_app" "$INSTDIR\pinfill.ico"
  CreateShortcut "$SMPROGRAMS\Pinfill\Pinfill command line.lnk" "$SYSDIR\cmd.exe" \
    '/k "set PATH=$INSTDIR;%PATH%& pinfill --help"' "$INSTDIR\pinfill.ico"

  WriteRegStr HKCU "${UNINSTALL}" "DisplayName" "Pinfill ${LABEL}"
  WriteRegStr HKCU "${UNINSTALL}" "DisplayVersion" "${VERSION}"
  WriteRegStr HKCU "${UNINSTALL}" "DisplayIcon" "$INSTDIR\pinfill.ico"
  WriteRegStr HKCU "${UNINSTALL}" "Publisher" "Pinfill contributors"
  WriteRegStr HKCU "${UNINSTALL}" "InstallLocation" "$INSTDIR"
  WriteRegStr HKCU "${UNINSTALL}" "UninstallString" '"$INSTDIR\uninstall.exe"'
  WriteRegStr HKCU "${UNINSTALL}" "QuietUninstallString" '"$INSTDIR\uninstall.exe" /S'
  WriteRegDWORD HKCU "${UNINSTALL}" "EstimatedSize" ${KIB}
  WriteRegDWORD HKCU "${UNINSTALL}" "NoModify" 1
  WriteRegDWORD HKCU "${UNINSTALL}" "NoRepair" 1
  ${If} $WasRunning == 1
    Exec '${START} --minimised'
  ${EndIf}
SectionEnd

Section /o "$(AtSignIn)" Autostart
  ; The same value as the application's own setting writes.
  WriteRegStr HKCU "${RUN}" "Pinfill" '$INSTDIR\pythonw.exe -P -m pinfill_app --minimised'
SectionEnd

Section "Uninstall"
  Call un.CloseRunning
  MessageBox MB_YESNO|MB_ICONQUESTION|MB_DEFBUTTON2 "$(RemoveAll)" /SD IDNO IDNO keep
  nsExec::ExecToLog '"$INSTDIR\python.exe" "$INSTDIR\pinfill.py" uninstall-state --yes'
  Pop $0
  keep:
  DeleteRegValue HKCU "${RUN}" "Pinfill"
  DeleteRegKey HKCU "${UNINSTALL}"
  RMDir /r "$SMPROGRAMS\Pinfill"
  RMDir /r "$INSTDIR\lib"
  RMDir /r "$INSTDIR\licences"
  RMDir /r "$INSTDIR\__pycache__"
  Delete "$INSTDIR\*.dll"
  Delete "$INSTDIR\*.pyd"
  Delete "$INSTDIR\python*.*"
  Delete "$INSTDIR\pinfill.*"
  Delete "$INSTDIR\running.py"
  Delete "$INSTDIR\LICENSE.txt"
  Delete "$INSTDIR\uninstall.exe"
  RMDir "$INSTDIR"
SectionEnd
