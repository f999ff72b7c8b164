/// How a word of bash's line becomes a text for a program, and back.
extension ProgramTable where Command: TableCommand {
    var bashQuoting: String {
        #"""
        # What a word of the line is for a program, without running anything that stands in it.
        \#(shellName)_plain() {
            local text=$1 char mode='' special='["\\$`]'
            plain=''
            while [[ -n $text ]]; do
                char=${text:0:1} text=${text:1}
                if [[ $mode == "'" && $char != "'" ]]; then
                    plain+=$char
                elif [[ $char == '\' ]]; then
                    if [[ -n $mode && ${text:0:1} != $special ]]; then plain+=$char; fi
                    if [[ -z $mode || ${text:0:1} == $special ]]; then plain+=${text:0:1} text=${text:1}; fi
                elif [[ $char == "$mode" ]]; then
                    mode=''
                elif [[ -z $mode && ($char == "'" || $char == '"') ]]; then
                    mode=$char
                else
                    plain+=$char
                fi
            done
            open=$mode
        }

        # A text as it is typed: behind the quotation mark that the word begins with and has not ended, else by itself, where a colon
        # and the like would end the word.
        \#(shellName)_typed() {
            local text=$1 char special='["\\$`]'
            typed=''
            if [[ $open == "'" && $word == "'"* ]]; then
                while [[ -n $text ]]; do
                    if [[ ${text:0:1} == "'" ]]; then typed+="'\\''"; else typed+=${text:0:1}; fi
                    text=${text:1}
                done
            elif [[ $open == '"' && $word == '"'* ]]; then
                while [[ -n $text ]]; do
                    if [[ ${text:0:1} == $special ]]; then typed+='\'; fi
                    typed+=${text:0:1} text=${text:1}
                done
            else
                printf -v text '%q' "$text"
                while [[ -n $text ]]; do
                    if [[ ${text:0:1} == [:@=] ]]; then typed+='\'; fi
                    typed+=${text:0:1} text=${text:1}
                done
            fi
        }

        """#
    }
}
